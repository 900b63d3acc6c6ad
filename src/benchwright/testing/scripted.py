"""Scripted fakes: a scheduler that executes nothing, and the records it may give back."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from benchwright.core.execution import ExecutionRecord, ExitCause, Job, TestOutcome, TestResult
from benchwright.execution.schedulers.base import ScheduledJob


class ScriptedScheduler:
    """Answers every job with the record that a script names for it; a `Scheduler` without processes."""

    def __init__(self, script: Callable[[Job], ExecutionRecord]) -> None:
        """Make one; ``script`` is called once per job, in order, and may raise."""
        self._script = script
        self.ran: list[ScheduledJob] = []
        """Every job so far, in order."""

    def run(self, jobs: Iterable[ScheduledJob]) -> Iterator[tuple[Job, ExecutionRecord]]:
        """Yield each job with its scripted record."""
        for scheduled in jobs:
            self.ran.append(scheduled)
            yield scheduled.job, self._script(scheduled.job)


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
