"""The protocol of a scheduler."""

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
