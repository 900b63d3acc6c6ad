"""Execute what a grading needs: identical jobs once, finished ones never, every record stored as it arrives."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benchwright.core.execution import ExecutionRecord, ExitCause
from benchwright.execution.schedulers.base import ScheduledJob, Scheduler
from benchwright.store.records import RecordStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a grading is; handed to the caller after every job."""

    done: int
    total: int
    reused: int
    """Jobs whose record was there already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What running the jobs came to."""

    executed: int
    reused: int
    duplicates: int
    """Jobs that another job of the same grading already stood for."""
    lost: dict[str, ExecutionRecord]
    """Records of jobs whose sandbox kept breaking, by job digest; they are not stored, so a later run tries again."""


def run_jobs(
    jobs: Iterable[ScheduledJob],
    scheduler: Scheduler,
    store: RecordStore,
    report: Callable[[Progress], None],
) -> RunSummary:
    """See to it that every job has a record in the store; what is lost comes back in the summary."""
    distinct: dict[str, ScheduledJob] = {}
    count = 0
    for scheduled in jobs:
        count += 1
        distinct.setdefault(scheduled.job.digest, scheduled)
    known = store.known(distinct)
    waiting = [scheduled for digest, scheduled in distinct.items() if digest not in known]
    lost: dict[str, ExecutionRecord] = {}
    report(Progress(done=len(known), total=len(distinct), reused=len(known)))
    for done, record in enumerate(_records(waiting, scheduler), len(known) + 1):
        if record.exit_cause is ExitCause.LOST:
            lost[record.job_digest] = record
        else:
            store.put(record)
        report(Progress(done=done, total=len(distinct), reused=len(known)))
    return RunSummary(executed=len(waiting), reused=len(known), duplicates=count - len(distinct), lost=lost)


def _records(waiting: list[ScheduledJob], scheduler: Scheduler) -> Iterator[ExecutionRecord]:
    if waiting:  # a scheduler without work would warm guests for nothing
        for _, record in scheduler.run(waiting):
            yield record
