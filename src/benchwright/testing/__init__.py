"""Public contract checks for extensions, and scripted fakes.

Whoever writes a scheduler or a benchmark runs `check_scheduler`, `check_live_scheduler` or `check_benchmark` in a test
of their own; each raises ``AssertionError`` with a sentence that says which promise is broken.
"""

from benchwright.testing.benchmarks import check_benchmark
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
    "check_live_scheduler",
    "check_scheduler",
    "finished_record",
    "lost_record",
]
