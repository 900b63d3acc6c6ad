"""The contract checks of schedulers, on the local one and on some that break their promises."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator

import pytest
from interpreter_runs import LocalUnderTest, make_job

from benchwright.core.execution import (
    ExecutionRecord,
    ExitCause,
    Isolation,
    Job,
    Limits,
    Submission,
    TestOutcome,
    TestPlan,
)
from benchwright.execution.schedulers.base import LiveScheduler, LiveSession, ScheduledJob, Scheduler
from benchwright.testing import ScriptedScheduler, check_scheduler, finished_record, lost_record
from benchwright.testing.schedulers import (
    check_dying_worker,
    check_early_close,
    check_exactly_once,
    check_failing_consumer,
    check_live_cancel,
    check_live_close,
    check_live_overlap,
    check_live_scheduler,
    check_no_jobs,
    check_worker_that_always_dies,
)

CHECKS = [
    check_exactly_once,
    check_no_jobs,
    check_early_close,
    check_failing_consumer,
    check_dying_worker,
    check_worker_that_always_dies,
]


@pytest.mark.namespaces
def test_the_local_scheduler_keeps_its_promises() -> None:
    """Exactly once, nothing left behind, and dying workers survived: in namespaces."""
    check_scheduler(LocalUnderTest())


def test_the_local_scheduler_keeps_its_promises_without_namespaces() -> None:
    """The same with process isolation."""
    check_scheduler(LocalUnderTest(isolation=Isolation.PROCESS))


def test_the_whole_check_is_the_sum_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """`check_scheduler` runs every single check."""
    called = []
    for check in CHECKS:
        name = check.__name__
        monkeypatch.setattr(f"benchwright.testing.schedulers.{name}", lambda subject, name=name: called.append(name))
    check_scheduler(LocalUnderTest())
    assert called == [check.__name__ for check in CHECKS]


@pytest.mark.namespaces
def test_the_sessions_of_the_local_scheduler_keep_their_promises() -> None:
    """The same given to a session at once, and what is promised of jobs that come one by one."""
    check_live_scheduler(LocalUnderTest())


def test_the_sessions_of_the_local_scheduler_keep_their_promises_without_namespaces() -> None:
    """The same with process isolation."""
    check_live_scheduler(LocalUnderTest(isolation=Isolation.PROCESS))


def test_the_whole_live_check_is_the_sum_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """`check_live_scheduler` runs every check of schedulers and every one of sessions."""
    called = []
    checks = [check.__name__ for check in (*CHECKS, check_live_overlap, check_live_cancel, check_live_close)]
    for name in checks:
        monkeypatch.setattr(f"benchwright.testing.schedulers.{name}", lambda subject, name=name: called.append(name))
    check_live_scheduler(LocalUnderTest())
    assert called == checks


class Scripted:
    """A scheduler under test that executes nothing; what it answers is given."""

    def __init__(self, scheduler: Scheduler, left: Collection[int] = ()) -> None:
        self._scheduler = scheduler
        self._left = left

    def make(self) -> Scheduler:
        """The scheduler given."""
        return self._scheduler

    def job(self, submission: Submission, plan: TestPlan, limits: Limits) -> Job:
        """A job as for the real engine."""
        return make_job(submission.code, plan, limits=limits)

    def processes(self) -> Collection[int]:
        """What was given as left behind."""
        return self._left

    def kill_workers(self) -> int:
        """Do nothing: there are none."""
        return 0


def honest(job: Job) -> ExecutionRecord:
    """What a real run of the check's jobs would give."""
    outcome = TestOutcome.PASSED if "return True" in job.submission.code else TestOutcome.FAILED
    outcomes = {job.plan.tests[0].id: outcome}
    return finished_record(job, outcomes)


class Twice(ScriptedScheduler):
    """Gives every job back twice."""

    def run(self, jobs: Iterable[ScheduledJob]) -> Iterator[tuple[Job, ExecutionRecord]]:
        """Every job, and once more."""
        for pair in super().run(jobs):
            yield pair
            yield pair


class Forgetful(ScriptedScheduler):
    """Loses the last job."""

    def run(self, jobs: Iterable[ScheduledJob]) -> Iterator[tuple[Job, ExecutionRecord]]:
        """All jobs but the last."""
        yield from super().run(list(jobs)[:-1])


@pytest.mark.parametrize("broken", [Twice(honest), Forgetful(honest)], ids=["twice", "forgetful"])
def test_jobs_given_back_twice_or_never_are_found(broken: Scheduler) -> None:
    """A scheduler that repeats or drops jobs is caught."""
    with pytest.raises(AssertionError, match="exactly once"):
        check_exactly_once(Scripted(broken))


def test_records_of_other_jobs_are_found() -> None:
    """A scheduler that mixes up records is caught."""
    with pytest.raises(AssertionError, match="results of another"):
        check_exactly_once(Scripted(ScriptedScheduler(finished_record)))
    strange = finished_record(make_job("def task_func(): pass"))
    with pytest.raises(AssertionError, match="belongs to another"):
        check_exactly_once(Scripted(ScriptedScheduler(lambda job: strange)))


def test_a_scheduler_that_gives_up_at_once_is_found() -> None:
    """A dead worker has to be replaced before the job counts as lost."""
    with pytest.raises(AssertionError, match="expected a retry"):
        check_dying_worker(Scripted(ScriptedScheduler(lost_record)))


def test_a_scheduler_that_invents_a_result_is_found() -> None:
    """Without a worker that lived there is no evidence, and the record has to say so."""
    with pytest.raises(AssertionError, match="expected a lost job"):
        check_worker_that_always_dies(Scripted(ScriptedScheduler(honest)))


def test_processes_left_behind_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is still there after the end is named."""
    monkeypatch.setattr("benchwright.testing.schedulers._SOON_SECONDS", 0.0)
    with pytest.raises(AssertionError, match="4242"):
        check_no_jobs(Scripted(ScriptedScheduler(honest), left=[4242]))


class ScriptedLive(Scripted):
    """The same of a live scheduler."""

    def __init__(self, scheduler: LiveScheduler) -> None:
        self._live = scheduler
        self._left = ()

    def make(self) -> LiveScheduler:  # type: ignore[override]
        """The scheduler given."""
        return self._live


async def sleeps(job: Job) -> None:
    """Hold back the jobs that sleep."""
    if "sleep" in job.submission.code:
        await asyncio.sleep(50)


@pytest.mark.parametrize("check", [check_live_overlap, check_live_cancel, check_live_close])
def test_the_scripted_scheduler_is_a_live_one(check: Callable[[ScriptedLive], None]) -> None:
    """Its sessions keep the promises that can be kept without executing anything."""
    scheduler = ScriptedScheduler(honest, pause=sleeps)
    check(ScriptedLive(scheduler))
    assert scheduler.open_sessions == 0


class OneByOne(ScriptedScheduler):
    """Takes the next job up when the one before has come back."""

    def open(self) -> LiveSession:
        """A session that waits in line."""
        session = super().open()
        execute, lock = session.execute, asyncio.Lock()

        async def in_turn(scheduled: ScheduledJob) -> ExecutionRecord:
            async with lock:
                return await execute(scheduled)

        session.execute = in_turn  # type: ignore[method-assign]
        return session


class Stubborn(ScriptedScheduler):
    """Goes on with jobs that were given up, and with all others after the end."""

    def open(self) -> LiveSession:
        """A session that shields what it has taken on, and has two workers for it."""
        session = super().open()
        execute, workers = session.execute, asyncio.Semaphore(2)

        async def take_on(scheduled: ScheduledJob) -> ExecutionRecord:
            async with workers:
                return await execute(scheduled)

        async def shielded(scheduled: ScheduledJob) -> ExecutionRecord:
            return await asyncio.shield(asyncio.ensure_future(take_on(scheduled)))

        async def close() -> None:
            pass

        session.execute, session.close = shielded, close  # type: ignore[method-assign]
        return session


@pytest.mark.parametrize(
    ("scheduler", "check", "words"),
    [
        (OneByOne(honest, pause=sleeps), check_live_overlap, "waited for an earlier"),
        (ScriptedScheduler(honest), check_live_overlap, "came back at once"),
        (ScriptedScheduler(lost_record, pause=sleeps), check_live_overlap, "a plain job ended as lost"),
        (Stubborn(honest, pause=sleeps), check_live_cancel, "still take up workers"),
        (Stubborn(honest, pause=sleeps), check_live_close, "waits after the end"),
        (ScriptedScheduler(honest), check_live_close, "was not cancelled"),
    ],
)
def test_flawed_sessions_are_found(
    monkeypatch: pytest.MonkeyPatch, scheduler: LiveScheduler, check: Callable[[ScriptedLive], None], words: str
) -> None:
    """A session that makes jobs wait for others, or goes on with what was given up, is caught."""
    monkeypatch.setattr("benchwright.testing.schedulers._SOON_SECONDS", 0.1)
    with pytest.raises(AssertionError, match=words):
        check(ScriptedLive(scheduler))


def test_the_scripted_scheduler_remembers_what_it_was_given() -> None:
    """Every job comes back with the scripted record, in order, and is kept to look at."""
    jobs = [ScheduledJob(job=make_job(f"def task_func(): return {n}")) for n in range(3)]
    scheduler = ScriptedScheduler(finished_record)
    came = list(scheduler.run(jobs))
    assert scheduler.ran == jobs
    assert [(job, record.job_digest) for job, record in came] == [(j.job, j.job.digest) for j in jobs]
    assert all(record.exit_cause is ExitCause.FINISHED for _, record in came)
