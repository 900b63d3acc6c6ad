"""Running what is not there yet, once, and storing it as it comes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from grading_pieces import make_attempt, make_pipeline, starter

from benchwright.core.execution import ExecutionRecord, Job
from benchwright.core.runs import Score
from benchwright.execution.schedulers.base import ScheduledJob
from benchwright.grading.run import Progress, run_jobs
from benchwright.store.records import RecordStore
from benchwright.testing import ScriptedScheduler, finished_record, lost_record

PROBLEMS = starter(4).problems
PIPELINE = make_pipeline()


def jobs() -> list[ScheduledJob]:
    """One job for each problem."""
    prepared = (PIPELINE.prepare(problem, make_attempt(problem), Score.EXTRACTED) for problem in PROBLEMS)
    return [one.scheduled for one in prepared if one.scheduled is not None]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RecordStore]:
    """An empty store."""
    with RecordStore(tmp_path / "records.sqlite") as opened:
        yield opened


def silent(progress: Progress) -> None:
    """Take progress and say nothing."""


def test_every_job_gets_a_record(store: RecordStore) -> None:
    """What was executed is in the store, and the summary counts it."""
    given = jobs()
    summary = run_jobs(given, ScriptedScheduler(finished_record), store, silent)
    assert (summary.executed, summary.reused, summary.duplicates, summary.lost) == (4, 0, 0, {})
    assert all(store.get(scheduled.job.digest) is not None for scheduled in given)


def test_identical_jobs_run_once(store: RecordStore) -> None:
    """The same submission several times, of any model, is one execution."""
    scheduler = ScriptedScheduler(finished_record)
    summary = run_jobs([*jobs(), *jobs(), *jobs()], scheduler, store, silent)
    assert (len(scheduler.ran), summary.executed, summary.duplicates) == (4, 4, 8)


def test_a_second_run_executes_nothing(store: RecordStore) -> None:
    """Finished work is reused; a scheduler without work is not even started."""
    run_jobs(jobs(), ScriptedScheduler(finished_record), store, silent)

    class NeverStarted(ScriptedScheduler):
        def run(self, given: object) -> Iterator[tuple[Job, ExecutionRecord]]:
            raise AssertionError("there was nothing to run")

    summary = run_jobs(jobs(), NeverStarted(finished_record), store, silent)
    assert (summary.executed, summary.reused) == (0, 4)


def test_lost_jobs_are_reported_and_not_stored(store: RecordStore) -> None:
    """A broken sandbox is no result: the next run tries again."""
    first = jobs()[0].job.digest
    script = {first: lost_record}
    summary = run_jobs(
        jobs(), ScriptedScheduler(lambda job: script.get(job.digest, finished_record)(job)), store, silent
    )
    assert list(summary.lost) == [first]
    assert store.get(first) is None
    scheduler = ScriptedScheduler(finished_record)
    assert run_jobs(jobs(), scheduler, store, silent).lost == {}
    assert [scheduled.job.digest for scheduled in scheduler.ran] == [first]


def test_what_was_done_before_an_interruption_is_kept(store: RecordStore) -> None:
    """An exception in the middle leaves the finished records in the store."""
    done: list[str] = []

    def script(job: Job) -> ExecutionRecord:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(job.digest)
        return finished_record(job)

    with pytest.raises(KeyboardInterrupt):
        run_jobs(jobs(), ScriptedScheduler(script), store, silent)
    assert store.known(done) == set(done)
    assert run_jobs(jobs(), ScriptedScheduler(finished_record), store, silent).executed == 2


def test_progress_counts_up_to_the_total(store: RecordStore) -> None:
    """Progress starts with what is there already and ends with everything."""
    run_jobs(jobs()[:1], ScriptedScheduler(finished_record), store, silent)
    seen: list[Progress] = []
    run_jobs([*jobs(), *jobs()], ScriptedScheduler(finished_record), store, seen.append)
    assert [progress.done for progress in seen] == [1, 2, 3, 4]
    assert {(progress.total, progress.reused) for progress in seen} == {(4, 1)}
