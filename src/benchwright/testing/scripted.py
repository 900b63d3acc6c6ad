"""Scripted fakes: a scheduler that executes nothing, and the records it may give back."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping

from benchwright.core.execution import ExecutionRecord, ExitCause, Job, TestOutcome, TestResult
from benchwright.execution.schedulers.base import ScheduledJob


class ScriptedScheduler:
    """Answers every job with the record that a script names for it; has no processes.

    It is a `Scheduler`, and a `LiveScheduler` whose sessions answer at once, or when a pause that you give is over.
    """

    def __init__(
        self, script: Callable[[Job], ExecutionRecord], *, pause: Callable[[Job], Awaitable[None]] | None = None
    ) -> None:
        """Make one.

        Args:
            script: Called once per job, in order, and may raise.
            pause: Awaited in a live session before a job is answered.
        """
        self._script = script
        self._pause = pause
        self.ran: list[ScheduledJob] = []
        """Every job so far, in order."""
        self.open_sessions = 0
        """Live sessions that were opened and not yet closed."""

    def run(self, jobs: Iterable[ScheduledJob]) -> Iterator[tuple[Job, ExecutionRecord]]:
        """Yield each job with its scripted record."""
        for scheduled in jobs:
            self.ran.append(scheduled)
            yield scheduled.job, self._script(scheduled.job)

    def open(self) -> "ScriptedSession":
        """Begin a live session."""
        self.open_sessions += 1
        return ScriptedSession(self)

    async def answer(self, scheduled: ScheduledJob) -> ExecutionRecord:
        """The scripted record of a job, after its pause."""
        self.ran.append(scheduled)
        if self._pause is not None:
            await self._pause(scheduled.job)
        return self._script(scheduled.job)


class ScriptedSession:
    """A live session of a `ScriptedScheduler`."""

    def __init__(self, scheduler: ScriptedScheduler) -> None:
        self._scheduler = scheduler
        self._tasks: set[asyncio.Task[ExecutionRecord]] = set()
        self._closed = False

    async def execute(self, scheduled: ScheduledJob) -> ExecutionRecord:
        """The scripted record."""
        if self._closed:
            raise RuntimeError("The session is closed.")
        task = asyncio.create_task(self._scheduler.answer(scheduled))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await task

    async def close(self) -> None:
        """Cancel who still waits."""
        self._closed = True
        self._scheduler.open_sessions -= 1
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def finished_record(
    job: Job, outcomes: Mapping[str, TestOutcome] | None = None, *, wall_seconds: float = 0.1, cpu_seconds: float = 0.05
) -> ExecutionRecord:
    """The record of an orderly end: every planned test passed, except those with another outcome by id."""
    chosen = outcomes or {}
    return ExecutionRecord(
        job_digest=job.digest,
        exit_cause=ExitCause.FINISHED,
        exit_status=0,
        tests=tuple(_result(test.id, chosen.get(test.id, TestOutcome.PASSED)) for test in job.plan.tests),
        wall_seconds=wall_seconds,
        cpu_seconds=cpu_seconds,
        memory_peak_bytes=1 << 20,
        isolation=job.isolation,
    )


def _result(test_id: str, outcome: TestOutcome) -> TestResult:
    if outcome is TestOutcome.PASSED:
        return TestResult(id=test_id, outcome=outcome, seconds=0.01)
    exception = "AssertionError" if outcome is TestOutcome.FAILED else "ValueError"
    message = f"Traceback (most recent call last):\n{exception}: as scripted"
    return TestResult(id=test_id, outcome=outcome, seconds=0.01, exception=exception, message=message)


def lost_record(job: Job) -> ExecutionRecord:
    """The record of a job whose sandbox kept breaking."""
    return ExecutionRecord(
        job_digest=job.digest,
        exit_cause=ExitCause.LOST,
        isolation=job.isolation,
        attempts=3,
        lost_reason="the scripted sandbox broke",
    )
