"""Real engine runs in the interpreter that runs the tests, and a look at the processes they start."""

import contextlib
import os
import signal
import sys
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchwright.answers.plans import read_plan
from benchwright.core.execution import ExecutionRecord, Isolation, Job, Limits, Submission, TestPlan
from benchwright.environments.spec import Tier
from benchwright.execution.guest import guest_version
from benchwright.execution.schedulers.base import ScheduledJob
from benchwright.execution.schedulers.local import LocalOptions, LocalScheduler
from benchwright.execution.target import Target

QUICK = Limits(wall_seconds=30.0, cpu_seconds=20.0)
RETURNS_TRUE = """
import unittest

class TestCases(unittest.TestCase):
    def test_truth(self):
        self.assertTrue(task_func())
"""
MARK = "BENCHWRIGHT_TEST_MARK"


def interpreter_target(preload: tuple[str, ...] = ("unittest.mock",), **variables: str) -> Target:
    """The running interpreter as a place to execute in."""
    python = Path(sys.executable)
    return Target(
        name="interpreter",
        digest="interpreter",
        python=python,
        readable=tuple(sorted({Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()})),
        variables={"PATH": f"{python.parent}:/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC", **variables},
        tiers=(Tier(name="bare", preload=preload),),
    )


def make_job(
    code: str,
    tests: str | TestPlan = RETURNS_TRUE,
    *,
    stub: str | None = None,
    limits: Limits = QUICK,
    isolation: Isolation = Isolation.NAMESPACE,
) -> Job:
    """A job for `interpreter_target`."""
    return Job(
        submission=Submission(code=code, stub=stub, entry_point="task_func"),
        plan=read_plan(tests) if isinstance(tests, str) else tests,
        environment="interpreter",
        tier="bare",
        limits=limits,
        guest_version=guest_version(),
        isolation=isolation,
    )


def execute(
    jobs: Mapping[str, Job],
    *,
    target: Target | None = None,
    workers: int = 2,
    rerun_timeouts: bool = False,
    isolation: Isolation = Isolation.NAMESPACE,
) -> dict[str, ExecutionRecord]:
    """Run named jobs in one scheduler; records by name."""
    names = {job.digest: name for name, job in jobs.items()}
    options = LocalOptions(workers=workers, isolation=isolation, rerun_timeouts=rerun_timeouts)
    scheduler = LocalScheduler(target or interpreter_target(), options)
    given = [ScheduledJob(job=job) for job in jobs.values()]
    return {names[job.digest]: record for job, record in scheduler.run(given)}


def observed(body: str, *, indent: str = "    ") -> str:
    """An answer that runs statements and prints what they leave in ``seen``."""
    lines = "\n".join(indent + line for line in body.strip().splitlines())
    return f"def task_func():\n{lines}\n{indent}print(repr(seen))\n{indent}return True\n"


@dataclass(kw_only=True)
class LocalUnderTest:
    """The local scheduler for the checks of `benchwright.testing`; its processes carry a mark of their own."""

    isolation: Isolation = Isolation.NAMESPACE
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def make(self, workers: int = 2) -> LocalScheduler:
        """A scheduler whose processes carry the mark."""
        options = LocalOptions(workers=workers, isolation=self.isolation)
        return LocalScheduler(interpreter_target(**{MARK: self.mark}), options)

    def job(self, submission: Submission, plan: TestPlan, limits: Limits) -> Job:
        """A job of the running interpreter."""
        return make_job(submission.code, plan, limits=limits, isolation=self.isolation)

    def processes(self) -> list[int]:
        """Everything alive with the mark in the environment it was started with."""
        wanted = f"{MARK}={self.mark}".encode()
        return [pid for pid in _pids() if wanted in _environment(pid)]

    def mothers(self) -> list[int]:
        """Those that the scheduler itself has started."""
        return [pid for pid in self.processes() if _parent(pid) == os.getpid()]

    def kill_workers(self) -> int:
        """Kill the slots and their children, not the mother they come from."""
        mothers = set(self.mothers())
        workers = [pid for pid in self.processes() if pid not in mothers]
        kill(workers)
        return len(workers)


def kill(pids: Iterable[int]) -> None:
    """End processes, if they are still there, with ``SIGKILL``."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _environment(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()  # empty for a zombie
    except OSError:
        return b""


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
