"""Grading while answers are still being written, with a scheduler that executes nothing."""

import asyncio
import concurrent.futures
import importlib.util
import sqlite3
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from interpreter_runs import make_job

from benchwright.core.errors import MachineError, UsageError
from benchwright.core.execution import ExecutionRecord, Job
from benchwright.execution.schedulers.base import ScheduledJob
from benchwright.grading.service import GradingService
from benchwright.store.records import RecordStore
from benchwright.testing import ScriptedScheduler, finished_record, lost_record

SOON = 60.0
BACKENDS = [
    "asyncio",
    pytest.param(
        "trio", marks=pytest.mark.skipif(importlib.util.find_spec("trio") is None, reason="trio is not installed")
    ),
]


def jobs() -> list[ScheduledJob]:
    """Four different jobs; new objects with every call."""
    return [ScheduledJob(job=make_job(f"def task_func():\n    return {number}\n")) for number in range(4)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "records.sqlite"


class Gate:
    """Holds jobs back in the service's thread until they are let through from the test's."""

    def __init__(self) -> None:
        self._events: dict[str, asyncio.Event] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.came: dict[str, threading.Event] = {scheduled.job.digest: threading.Event() for scheduled in jobs()}

    async def __call__(self, job: Job) -> None:
        """Wait until the job is let through."""
        self._loop = asyncio.get_running_loop()
        self._events[job.digest] = asyncio.Event()
        self.came[job.digest].set()
        await self._events[job.digest].wait()

    def wait_for(self, scheduled: ScheduledJob) -> None:
        """Wait until the job is being executed."""
        assert self.came[scheduled.job.digest].wait(SOON)

    def let_through(self, scheduled: ScheduledJob) -> None:
        """Let the job, which is being executed, end."""
        self.wait_for(scheduled)
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._events[scheduled.job.digest].set)


def service(scheduler: ScriptedScheduler, path: Path) -> GradingService:
    """A service with a store of its own."""
    return GradingService(scheduler, lambda: RecordStore(path))


def stored(path: Path, scheduled: ScheduledJob) -> ExecutionRecord | None:
    """What the store has of a job."""
    with RecordStore(path) as store:
        return store.get(scheduled.job.digest)


def until(condition: Callable[[], bool]) -> bool:
    """Wait for a condition; whether it came."""
    end = time.monotonic() + SOON
    while not (came := condition()) and time.monotonic() < end:
        time.sleep(0.001)
    return came


@contextmanager
def no_thread_left() -> Iterator[None]:
    """Check that no thread outlives the body."""
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def run_in(backend: str, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine function under asyncio or trio."""
    if backend == "asyncio":
        asyncio.run(function())
    else:
        pytest.importorskip("trio").run(function)


def test_a_record_is_stored_before_it_is_handed_out(path: Path) -> None:
    """Whoever has a record finds it in the store, also from another thread."""
    scheduler = ScriptedScheduler(finished_record)
    with no_thread_left(), service(scheduler, path) as grading:
        for scheduled in jobs():
            record = grading.submit(scheduled).result(SOON)
            assert record == stored(path, scheduled) == finished_record(scheduled.job)
        assert (grading.executed, grading.reused, grading.duplicates, grading.waiting) == (4, 0, 0, 0)
    assert scheduler.open_sessions == 0


def test_what_is_in_the_store_is_not_executed(path: Path) -> None:
    """A record of an earlier run is handed out; without work no session is opened."""
    with service(ScriptedScheduler(finished_record), path) as grading:
        for scheduled in jobs():
            grading.submit(scheduled).result(SOON)

    class NeverOpened(ScriptedScheduler):
        def open(self) -> Any:
            raise AssertionError("there was nothing to run")

    with service(NeverOpened(lost_record), path) as grading:
        for scheduled in jobs():
            assert grading.submit(scheduled).result(SOON) == finished_record(scheduled.job)
        assert (grading.executed, grading.reused, grading.duplicates) == (0, 4, 0)


def test_equal_jobs_are_executed_once(path: Path) -> None:
    """Those handed over while the first one runs, and later ones, get its record."""
    gate = Gate()
    scheduler = ScriptedScheduler(finished_record, pause=gate)
    one, same, later = (jobs()[0] for _ in range(3))
    with service(scheduler, path) as grading:
        answers = [grading.submit(one), grading.submit(same)]
        assert grading.waiting == 2
        gate.let_through(one)
        assert answers[0].result(SOON) == answers[1].result(SOON) == finished_record(one.job)
        assert grading.submit(later).result(SOON) == finished_record(one.job)
        assert (grading.executed, grading.reused, grading.duplicates, grading.waiting) == (1, 0, 2, 0)
    assert len(scheduler.ran) == 1


def test_a_later_job_overtakes_an_earlier_one(path: Path) -> None:
    """Each record comes back as soon as it is there, whatever was handed over before."""
    gate = Gate()
    first, second, *_ = jobs()
    with service(ScriptedScheduler(finished_record, pause=gate), path) as grading:
        slow, quick = grading.submit(first), grading.submit(second)
        gate.let_through(second)
        assert quick.result(SOON).job_digest == second.job.digest
        assert not slow.done()
        assert grading.waiting == 1
        gate.let_through(first)
        assert slow.result(SOON).job_digest == first.job.digest


def test_lost_jobs_are_handed_out_and_not_stored(path: Path) -> None:
    """A broken sandbox is no result: it is the same fault for all of this run, and the next run tries again."""
    scheduled = jobs()[0]
    scheduler = ScriptedScheduler(lost_record)
    with service(scheduler, path) as grading:
        assert grading.submit(scheduled).result(SOON) == lost_record(scheduled.job)
        assert grading.submit(scheduled).result(SOON) == lost_record(scheduled.job)
        assert grading.lost == {scheduled.job.digest: lost_record(scheduled.job)}
        assert (grading.executed, grading.duplicates) == (1, 1)
    assert stored(path, scheduled) is None
    with service(ScriptedScheduler(finished_record), path) as grading:
        assert grading.submit(scheduled).result(SOON) == finished_record(scheduled.job)


def test_a_machine_that_fails_is_told_to_everybody(path: Path) -> None:
    """Those who wait for other jobs, for the same job, and those who come later: all get the very exception."""
    gate = Gate()
    error = MachineError("no guest can be started")

    def script(job: Job) -> ExecutionRecord:
        raise error

    first, second, third, fourth = jobs()
    scheduler = ScriptedScheduler(script, pause=gate)
    with no_thread_left(), service(scheduler, path) as grading:
        answers = [grading.submit(scheduled) for scheduled in (first, second, second, third)]
        gate.wait_for(third)
        gate.let_through(second)
        answers.append(grading.submit(fourth))
        assert [answer.exception(SOON) for answer in answers] == [error] * 5
        assert grading.submit(first).exception(SOON) is error
        assert grading.waiting == 0
    assert scheduler.open_sessions == 0


def test_a_session_that_cannot_be_opened_is_told_as_well(path: Path) -> None:
    """What opening the session raises reaches who asked."""

    class Refusing(ScriptedScheduler):
        def open(self) -> Any:
            raise MachineError("not on this machine")

    with (
        service(Refusing(finished_record), path) as grading,
        pytest.raises(MachineError, match="not on this machine"),
    ):
        grading.submit(jobs()[0]).result(SOON)


def test_a_full_disk_is_told_to_everybody(path: Path) -> None:
    """A record that cannot be stored is not handed out, and nothing is executed any more."""
    full = MachineError("the disk is full")

    class Full(RecordStore):
        def put(self, record: ExecutionRecord) -> None:
            raise full

    scheduler = ScriptedScheduler(finished_record)
    with GradingService(scheduler, lambda: Full(path)) as grading:
        first, second, *_ = jobs()
        assert grading.submit(first).exception(SOON) is full
        assert grading.submit(second).exception(SOON) is full
    assert len(scheduler.ran) == 1


def test_a_store_that_cannot_be_opened_is_told_on_entering(tmp_path: Path) -> None:
    """Before anything is handed over, in the words of the store."""
    path = tmp_path / "records.sqlite"
    path.write_text("this is no database, and long enough to tell " * 10)
    with (
        no_thread_left(),
        pytest.raises(UsageError, match="not a record store"),
        service(ScriptedScheduler(finished_record), path),
    ):
        raise AssertionError("the body must not be entered")


def test_a_damaged_record_is_told_rather_than_run_again(path: Path) -> None:
    """What the store raises reaches who waits."""
    scheduled = jobs()[0]
    with RecordStore(path):
        pass
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO records VALUES (?, ?)", (scheduled.job.digest, b"nonsense"))
    connection.close()
    with service(ScriptedScheduler(finished_record), path) as grading, pytest.raises(UsageError, match="damaged"):
        grading.submit(scheduled).result(SOON)


def test_leaving_cancels_who_still_waits(path: Path) -> None:
    """Nobody hangs: the future of a running job is cancelled, and its record is not invented."""
    gate = Gate()
    scheduler = ScriptedScheduler(finished_record, pause=gate)
    scheduled = jobs()[0]
    with no_thread_left(), service(scheduler, path) as grading:
        answer = grading.submit(scheduled)
        gate.wait_for(scheduled)
    assert answer.cancelled()
    assert concurrent.futures.wait([answer], SOON).done == {answer}
    assert (grading.executed, grading.waiting, scheduler.open_sessions) == (0, 0, 0)
    assert stored(path, scheduled) is None


def test_leaving_at_once_cancels_what_was_just_handed_over(path: Path) -> None:
    """Whatever the two threads do first, every future ends."""
    for _ in range(20):
        with service(ScriptedScheduler(finished_record), path) as grading:
            answers = [grading.submit(scheduled) for scheduled in jobs()]
        assert all(answer.done() for answer in answers)


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt()], ids=["exception", "interruption"])
def test_what_the_body_raises_goes_on_unchanged(path: Path, error: BaseException) -> None:
    """The service ends, and the exception is the body's own."""
    gate = Gate()
    scheduler = ScriptedScheduler(finished_record, pause=gate)
    with no_thread_left(), pytest.raises(type(error)) as caught, service(scheduler, path) as grading:
        gate_job = jobs()[0]
        grading.submit(gate_job)
        gate.wait_for(gate_job)
        raise error
    assert caught.value is error
    assert scheduler.open_sessions == 0


def test_what_ending_a_session_raises_is_not_swallowed(path: Path) -> None:
    """An error while the service ends is raised where it is left."""

    class Stuck(ScriptedScheduler):
        def open(self) -> Any:
            session = super().open()

            async def close() -> None:
                raise OSError("a slot does not end")

            session.close = close  # type: ignore[method-assign]
            return session

    grading = service(Stuck(finished_record), path)
    with no_thread_left(), pytest.raises(OSError, match="does not end"), grading:
        grading.submit(jobs()[0]).result(SOON)


def test_jobs_are_taken_within_the_block_only(path: Path) -> None:
    """Before entering and after leaving, handing over is an error rather than a wait for ever."""
    grading = service(ScriptedScheduler(finished_record), path)
    with pytest.raises(RuntimeError, match="within its with-block"):
        grading.submit(jobs()[0])
    with grading:
        pass
    with pytest.raises(RuntimeError, match="within its with-block"):
        grading.submit(jobs()[0])
    with pytest.raises(RuntimeError, match="used once"), grading:
        pass


def test_a_future_that_was_cancelled_does_not_take_its_job_back(path: Path) -> None:
    """The record is stored all the same, and the next who asks gets it."""
    gate = Gate()
    scheduled = jobs()[0]
    with service(ScriptedScheduler(finished_record, pause=gate), path) as grading:
        first = grading.submit(scheduled)
        gate.wait_for(scheduled)
        assert first.cancel()
        second = grading.submit(scheduled)
        gate.let_through(scheduled)
        assert second.result(SOON) == finished_record(scheduled.job)
    assert stored(path, scheduled) == finished_record(scheduled.job)


@pytest.mark.parametrize("backend", BACKENDS)
def test_records_can_be_awaited(path: Path, backend: str) -> None:
    """Several tasks of another event loop wait at once; each gets its own record."""
    came: list[ExecutionRecord] = []

    async def main() -> None:
        await asyncio_or_trio_gather(backend, [lambda s=s: take(s) for s in [*jobs(), *jobs()]])

    with service(ScriptedScheduler(finished_record), path) as grading:

        async def take(scheduled: ScheduledJob) -> None:
            record = await grading.execute(scheduled)
            assert record.job_digest == scheduled.job.digest
            came.append(record)

        run_in(backend, main)
        assert (len(came), grading.executed, grading.duplicates) == (8, 4, 4)


async def asyncio_or_trio_gather(backend: str, functions: list[Callable[[], Coroutine[Any, Any, None]]]) -> None:
    """Run coroutine functions beside each other."""
    if backend == "asyncio":
        await asyncio.gather(*(function() for function in functions))
        return
    async with pytest.importorskip("trio").open_nursery() as nursery:
        for function in functions:
            nursery.start_soon(function)


@pytest.mark.parametrize("backend", BACKENDS)
def test_cancelling_the_wait_loses_no_record(path: Path, backend: str) -> None:
    """A task that is cancelled while it waits leaves its job running; the record is stored."""
    gate = Gate()
    scheduled = jobs()[0]

    async def with_asyncio() -> None:
        task = asyncio.create_task(grading.execute(scheduled))
        await asyncio.to_thread(gate.wait_for, scheduled)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def with_trio() -> None:
        trio: Any = pytest.importorskip("trio")
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(grading.execute, scheduled)
                await trio.to_thread.run_sync(gate.wait_for, scheduled)
                scope.cancel()
        assert scope.cancelled_caught

    with service(ScriptedScheduler(finished_record, pause=gate), path) as grading:
        run_in(backend, with_asyncio if backend == "asyncio" else with_trio)
        assert grading.waiting == 1
        gate.let_through(scheduled)  # the loop that waited has ended by now
        assert until(lambda: grading.waiting == 0)
        assert grading.executed == 1
    assert stored(path, scheduled) == finished_record(scheduled.job)


@pytest.mark.parametrize("backend", BACKENDS)
def test_errors_are_raised_to_who_awaits(path: Path, backend: str) -> None:
    """A machine error arrives as itself, not as a cancellation that nobody asked for."""

    def script(job: Job) -> ExecutionRecord:
        raise MachineError("no guest can be started")

    async def main() -> None:
        with pytest.raises(MachineError, match="no guest"):
            await grading.execute(jobs()[0])

    with service(ScriptedScheduler(script), path) as grading:
        run_in(backend, main)


@pytest.mark.parametrize("backend", BACKENDS)
def test_who_awaits_while_the_service_is_left_is_told(path: Path, backend: str) -> None:
    """The wait ends with an ordinary exception, for the task itself was not cancelled."""
    gate = Gate()
    scheduled = jobs()[0]
    told: list[BaseException] = []

    async def wait() -> None:
        try:
            await grading.execute(scheduled)
        except concurrent.futures.CancelledError as error:
            told.append(error)

    def leave() -> None:
        gate.wait_for(scheduled)
        grading.__exit__(None)

    leaving = threading.Thread(target=leave)
    with service(ScriptedScheduler(finished_record, pause=gate), path) as grading:
        leaving.start()
        run_in(backend, wait)
        leaving.join()
    assert len(told) == 1


def test_waiting_needs_an_event_loop(path: Path) -> None:
    """Driven by hand, the coroutine says what to do instead."""
    with service(ScriptedScheduler(finished_record), path) as grading:
        coroutine = grading.execute(jobs()[0])
        with pytest.raises(RuntimeError):
            coroutine.send(None)


@pytest.mark.parametrize("backend", BACKENDS)
def test_records_can_be_awaited_by_way_of_anyio(path: Path, backend: str) -> None:
    """Task groups and cancel scopes of anyio work on either loop."""
    anyio: Any = pytest.importorskip("anyio")
    gate = Gate()
    first, second, *_ = jobs()
    came: list[str] = []

    async def main() -> None:
        async def take(scheduled: ScheduledJob) -> None:
            came.append((await grading.execute(scheduled)).job_digest)

        async with anyio.create_task_group() as group:
            group.start_soon(take, first)
            group.start_soon(take, second)
            await anyio.to_thread.run_sync(gate.wait_for, first)
            await anyio.to_thread.run_sync(gate.let_through, second)
            while not came:
                await anyio.sleep(0.001)
            group.cancel_scope.cancel()

    with service(ScriptedScheduler(finished_record, pause=gate), path) as grading:
        anyio.run(main, backend=backend)
        assert came == [second.job.digest]
        gate.let_through(first)
        assert until(lambda: grading.waiting == 0)
    assert stored(path, first) == finished_record(first.job)
