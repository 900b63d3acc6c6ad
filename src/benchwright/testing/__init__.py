"""Public contract checks for extensions, and scripted fakes.

Whoever writes a scheduler, a benchmark or a sandbox runs `check_scheduler`, `check_live_scheduler`, `check_benchmark`,
`check_sandbox` or `check_live_sandbox` in a test of their own; each raises ``AssertionError`` with a sentence that says
which promise is broken.
"""

from benchwright.testing.benchmarks import check_benchmark
from benchwright.testing.live_sandboxes import check_live_sandbox
from benchwright.testing.sandboxes import check_sandbox
from benchwright.testing.schedulers import (
    LiveSchedulerUnderTest,
    SchedulerUnderTest,
    check_live_scheduler,
    check_scheduler,
)
from benchwright.testing.scripted import ScriptedScheduler, finished_record, lost_record

__all__ = [
    "LiveSchedulerUnderTest",
    "SchedulerUnderTest",
    "ScriptedScheduler",
    "check_benchmark",
    "check_live_sandbox",
    "check_live_scheduler",
    "check_sandbox",
    "check_scheduler",
    "finished_record",
    "lost_record",
]
