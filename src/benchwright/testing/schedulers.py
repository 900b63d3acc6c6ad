"""What every scheduler promises, as checks that anyone can run against theirs."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Collection, Generator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar

from benchwright.core.execution import ExecutionRecord, ExitCause, Job, Limits, PlannedTest, Submission, TestPlan
from benchwright.execution.schedulers.base import LiveScheduler, LiveSession, ScheduledJob, Scheduler

_SOON_SECONDS = 10.0
"""Longest wait for processes to appear or to go; both take milliseconds on a quiet machine."""
_POLL_SECONDS = 0.005
_SETTLED_SECONDS = 0.2
_LIMITS = Limits(wall_seconds=60.0, cpu_seconds=30.0)
_PLAN = TestPlan(
    source=(
        "import unittest\n"
        "class TestCases(unittest.TestCase):\n"
        "    def test_truth(self):\n"
        "        self.assertTrue(task_func())\n"
    ),
    class_name="TestCases",
    tests=(PlannedTest(id="TestCases.test_truth"),),
    assertions=("assertTrue",),
)


_Result = TypeVar("_Result")


class JobsUnderTest(Protocol):
    """How to make jobs for a scheduler, and how to look at it from outside."""

    def job(self, submission: Submission, plan: TestPlan, limits: Limits) -> Job:
        """A job for the environment that the schedulers run in."""
        ...

    def processes(self) -> Collection[int]:
        """Ids of all live processes that the schedulers have started, workers and jobs alike."""
        ...

    def kill_workers(self) -> int:
        """End with ``SIGKILL`` every process that executes a job just now, and say how many there were.

        Processes that only start such processes are spared.
        """
        ...


class SchedulerUnderTest(JobsUnderTest, Protocol):
    """A scheduler, and how to look at it from outside."""

    def make(self) -> Scheduler:
        """A fresh scheduler with at least two workers."""
        ...


class LiveSchedulerUnderTest(JobsUnderTest, Protocol):
    """A live scheduler, and how to look at it from outside."""

    def make(self) -> LiveScheduler:
        """A fresh scheduler with two workers."""
        ...


def check_scheduler(subject: SchedulerUnderTest) -> None:
    """Check every promise of the protocol; raises ``AssertionError`` that names the broken one.

    Runs about a dozen small jobs, and takes a few seconds with a scheduler that keeps its promises.
    """
    check_exactly_once(subject)
    check_no_jobs(subject)
    check_early_close(subject)
    check_failing_consumer(subject)
    check_dying_worker(subject)
    check_worker_that_always_dies(subject)


def check_live_scheduler(subject: LiveSchedulerUnderTest) -> None:
    """Check every promise of the live protocol; raises ``AssertionError`` that names the broken one.

    A session that is given all jobs at once must keep what every scheduler promises; the rest is about jobs that come
    one by one.  Runs about twenty small jobs, and takes a few seconds with a scheduler that keeps its promises.
    """
    check_scheduler(_GivenAtOnce(subject))
    check_live_overlap(subject)
    check_live_cancel(subject)
    check_live_close(subject)


def check_exactly_once(subject: SchedulerUnderTest) -> None:
    """Every job comes back exactly once with the record of that very job, equal jobs as often as they were given."""
    jobs = [_job(subject, f"def task_func():\n    return {number % 2} == 0\n# {number}\n") for number in range(5)]
    given = [ScheduledJob(job=job) for job in [*jobs, jobs[0]]]
    came = list(subject.make().run(given))
    assert Counter(job.digest for job, _ in came) == Counter(item.job.digest for item in given), (
        "expected every job back exactly once"
    )
    assert all(job.digest == record.job_digest for job, record in came), "a record belongs to another job"
    by_digest = {job.digest: record for job, record in came}
    for number, job in enumerate(jobs):
        record = by_digest[job.digest]
        assert record.exit_cause is ExitCause.FINISHED, f"a plain job ended as {record.exit_cause}: {record}"
        passed = [test.outcome.value for test in record.tests] == ["passed"]
        assert passed == (number % 2 == 0), f"a job came back with the results of another: {record}"
    _check_nothing_left(subject)


def check_no_jobs(subject: SchedulerUnderTest) -> None:
    """Without jobs nothing comes back and nothing is left."""
    assert list(subject.make().run([])) == [], "expected no record without a job"
    _check_nothing_left(subject)


def check_early_close(subject: SchedulerUnderTest) -> None:
    """Closing the iterator while jobs run ends them at once and leaves no process."""
    jobs = [_job(subject, "def task_func():\n    return True\n"), *_sleepers(subject, 3, seconds=50)]
    started = time.monotonic()
    iterator = subject.make().run([ScheduledJob(job=job) for job in jobs])
    next(iterator)
    _close(iterator)
    assert time.monotonic() - started < 40, "closing early waited for the running jobs"
    _check_nothing_left(subject)


def check_failing_consumer(subject: SchedulerUnderTest) -> None:
    """An exception in the caller's loop leaves no process either."""

    class ConsumerError(Exception):
        pass

    def consume() -> None:
        jobs = [_job(subject, "def task_func():\n    return True\n"), *_sleepers(subject, 1, seconds=50)]
        for _ in subject.make().run([ScheduledJob(job=job) for job in jobs]):
            raise ConsumerError

    with suppress(ConsumerError):
        consume()
    _check_nothing_left(subject)


def check_dying_worker(subject: SchedulerUnderTest) -> None:
    """A job whose worker dies is run again, and comes back as if nothing had happened."""
    (job,) = _sleepers(subject, 1, seconds=8)
    with _killer(subject, once=True):
        came = list(subject.make().run([ScheduledJob(job=job)]))
    assert len(came) == 1, f"expected one record, got {len(came)}"
    record = came[0][1]
    assert record.exit_cause is ExitCause.FINISHED, f"expected a retry, got {record.exit_cause}: {record.lost_reason}"
    assert record.attempts > 1, "the record does not count the attempt whose worker died"
    _check_nothing_left(subject)


def check_worker_that_always_dies(subject: SchedulerUnderTest) -> None:
    """A job whose workers keep dying comes back as lost, with a reason, and does not stop the others."""
    jobs = _sleepers(subject, 2, seconds=50)
    with _killer(subject, once=False):
        came: list[tuple[Job, ExecutionRecord]] = list(subject.make().run([ScheduledJob(job=job) for job in jobs]))
    assert Counter(job.digest for job, _ in came) == Counter(job.digest for job in jobs)
    for _, record in came:
        assert record.exit_cause is ExitCause.LOST, f"expected a lost job, got {record.exit_cause}"
        assert record.lost_reason, "a lost job says nothing of the reason"
        assert record.attempts > 1, "a lost job was not retried"
    _check_nothing_left(subject)


def check_live_overlap(subject: LiveSchedulerUnderTest) -> None:
    """A job that is handed over later comes back while an earlier, longer one still runs."""

    async def check() -> None:
        async with _session(subject) as session:
            (sleeper,) = _sleepers(subject, 1, seconds=50)
            long = asyncio.create_task(session.execute(ScheduledJob(job=sleeper)))
            for number in range(3):
                job = _job(subject, f"def task_func():\n    return True\n# later {number}\n")
                record = await _soon(session.execute(ScheduledJob(job=job)), "a job waited for an earlier, longer one")
                assert record.job_digest == job.digest, "a record belongs to another job"
                assert record.exit_cause is ExitCause.FINISHED, f"a plain job ended as {record.exit_cause}: {record}"
            assert not long.done(), "a job that sleeps came back at once"
            long.cancel()

    asyncio.run(check())
    _check_nothing_left(subject)


def check_live_cancel(subject: LiveSchedulerUnderTest) -> None:
    """Cancelling those who wait for running jobs, or for jobs in line, makes room for others."""

    async def check() -> None:
        async with _session(subject) as session:
            jobs = _sleepers(subject, 4, seconds=50)
            waiting = [asyncio.create_task(session.execute(ScheduledJob(job=job))) for job in jobs]
            await asyncio.sleep(_SETTLED_SECONDS)
            for task in waiting:
                task.cancel()
            job = _job(subject, "def task_func():\n    return True\n# afterwards\n")
            record = await _soon(
                session.execute(ScheduledJob(job=job)), "jobs that were given up still take up workers"
            )
            assert record.exit_cause is ExitCause.FINISHED, f"a plain job ended as {record.exit_cause}: {record}"
            ended = await asyncio.gather(*waiting, return_exceptions=True)
            assert all(isinstance(one, asyncio.CancelledError) for one in ended), "a job that was given up came back"

    asyncio.run(check())
    _check_nothing_left(subject)


def check_live_close(subject: LiveSchedulerUnderTest) -> None:
    """Closing a session cancels who waits, leaves no process, and the session takes no more jobs."""

    async def check() -> None:
        jobs = [ScheduledJob(job=job) for job in _sleepers(subject, 3, seconds=50)]
        async with _session(subject) as session:
            waiting = [asyncio.create_task(session.execute(job)) for job in jobs]
            await asyncio.sleep(_SETTLED_SECONDS)
        ended = await _soon(asyncio.gather(*waiting, return_exceptions=True), "somebody waits after the end")
        assert all(isinstance(one, asyncio.CancelledError) for one in ended), "somebody who waited was not cancelled"
        try:
            await _soon(session.execute(jobs[0]), "a closed session keeps a job waiting")
        except RuntimeError:
            return
        raise AssertionError("a closed session took a job")

    asyncio.run(check())
    _check_nothing_left(subject)


@asynccontextmanager
async def _session(subject: LiveSchedulerUnderTest) -> AsyncIterator[LiveSession]:
    session = subject.make().open()
    try:
        yield session
    finally:
        await session.close()


async def _soon(awaitable: Awaitable[_Result], complaint: str) -> _Result:
    try:
        return await asyncio.wait_for(awaitable, _SOON_SECONDS)
    except TimeoutError:
        raise AssertionError(complaint) from None


@dataclass(frozen=True, slots=True)
class _GivenAtOnce:
    """A live scheduler in the place of one that is given all jobs at once, for the checks of those."""

    subject: LiveSchedulerUnderTest

    def make(self) -> Scheduler:
        return _AllAtOnce(self.subject.make())

    def job(self, submission: Submission, plan: TestPlan, limits: Limits) -> Job:
        return self.subject.job(submission, plan, limits)

    def processes(self) -> Collection[int]:
        return self.subject.processes()

    def kill_workers(self) -> int:
        return self.subject.kill_workers()


@dataclass(frozen=True, slots=True)
class _AllAtOnce:
    scheduler: LiveScheduler

    def run(self, jobs: Iterable[ScheduledJob]) -> Iterator[tuple[Job, ExecutionRecord]]:
        async def hand_over() -> tuple[LiveSession, dict[asyncio.Task[ExecutionRecord], Job]]:
            session = self.scheduler.open()
            return session, {asyncio.create_task(session.execute(item)): item.job for item in jobs}

        async def some() -> set[asyncio.Task[ExecutionRecord]]:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            return done

        with asyncio.Runner() as runner:
            session, waiting = runner.run(hand_over())
            try:
                while waiting:
                    for task in runner.run(some()):
                        yield waiting.pop(task), task.result()
            finally:
                runner.run(session.close())


def _job(subject: JobsUnderTest, code: str) -> Job:
    return subject.job(Submission(code=code, stub=None, entry_point="task_func"), _PLAN, _LIMITS)


def _sleepers(subject: JobsUnderTest, count: int, *, seconds: float) -> list[Job]:
    return [
        _job(subject, f"import time\ndef task_func():\n    time.sleep({seconds})\n    return True\n# {number}\n")
        for number in range(count)
    ]


def _close(iterator: Iterator[object]) -> None:
    assert isinstance(iterator, Generator), "run() must give a generator, or something else that can be closed"
    iterator.close()


def _check_nothing_left(subject: JobsUnderTest) -> None:
    end = time.monotonic() + _SOON_SECONDS
    while (left := subject.processes()) and time.monotonic() < end:
        time.sleep(_POLL_SECONDS)
    assert not left, f"processes were left behind: {sorted(left)}"


@contextmanager
def _killer(subject: JobsUnderTest, *, once: bool) -> Iterator[None]:
    """Kill workers from another thread while the body runs: the first ones only, or all that come."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(_POLL_SECONDS):
            if once and not _settled(subject):
                continue
            if subject.kill_workers() and once:
                return

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _settled(subject: JobsUnderTest) -> bool:
    """Whether no process came or went for a while: the worker is ready, and its job runs."""
    before = set(subject.processes())
    for _ in range(10):
        time.sleep(_SETTLED_SECONDS / 10)
        if set(subject.processes()) != before:
            return False
    return bool(before)
