"""The protocols of schedulers: one is given all jobs at once, a live one is fed while it runs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from benchwright.core.execution import ExecutionRecord, Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a job is expected to use, from a control run of the same problem."""

    wall_seconds: float
    cpu_seconds: float
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledJob:
    """A job and what the scheduler may know about it."""

    job: Job
    expectation: Expectation | None = None


class Scheduler(Protocol):
    """Runs jobs somewhere.

    Every job comes back exactly once, in any order.  A job whose sandbox broke is retried, then comes back with
    exit cause ``lost``.  Closing the iterator early leaves no process behind.
    """

    def run(self, jobs: Iterable[ScheduledJob]) -> Iterator[tuple[Job, ExecutionRecord]]:
        """Execute all jobs and yield each with its record."""
        ...


class LiveSession(Protocol):
    """A scheduler at work that takes jobs as they come; everything happens in the asyncio loop it was opened in."""

    async def execute(self, scheduled: ScheduledJob) -> ExecutionRecord:
        """Execute a job beside all others that were handed over, and give its record back as soon as it is there.

        Which of those that wait starts next is for the scheduler to choose, but every job has its turn, also when
        nobody hands over another one before it is back.  Equal jobs are executed as often as they were given.  A job
        whose sandbox broke is retried, then comes back with exit cause ``lost``.  Cancelling who waits gives the job
        up and ends what runs of it.

        Raises:
            MachineError: No guest can be started in the environment.
            IsolationRefusedError: The kernel refuses the isolation level.
            RuntimeError: The session is closed.
        """
        ...

    async def close(self) -> None:
        """End everything that runs and leave no process; who still waits in :meth:`execute` is cancelled."""
        ...


class LiveScheduler(Protocol):
    """Runs jobs somewhere while others are still being made."""

    def open(self) -> LiveSession:
        """Begin a session in the running asyncio loop; it must be closed, and starts no guest before its first job."""
        ...
