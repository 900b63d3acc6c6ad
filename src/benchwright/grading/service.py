"""Grading while answers are still being written: jobs come one by one from another thread and are executed at once."""

import asyncio
import concurrent.futures
import contextlib
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from benchwright.core.execution import ExecutionRecord, ExitCause
from benchwright.execution.schedulers.base import LiveScheduler, LiveSession, ScheduledJob
from benchwright.store.records import RecordStore

_Answer = concurrent.futures.Future[ExecutionRecord]


class GradingService:
    """Executes jobs as they come while others are still being written; every record is stored before it is handed out.

    Use it once, as a context manager.  Jobs may be handed over from any thread; they are executed, and the store is
    used, in a thread of the service's own.  Equal jobs are executed once; what is in the store is not executed.
    Nothing is started before the first job that has to be.  When the machine stands in the way, everybody who waits
    and everybody who comes later gets that very exception.  Leaving ends what runs and cancels who still waits.
    """

    def __init__(self, scheduler: LiveScheduler, open_store: Callable[[], RecordStore]) -> None:
        """Make a service; the store is opened in its thread, for a connection may not leave the one it was made in."""
        self._scheduler = scheduler
        self._open_store = open_store
        self._counts = _Counts()
        # A daemon: were leaving interrupted, it must not keep the program; guests end when their host does.
        self._thread = threading.Thread(target=self._work, name="benchwright-grading", daemon=True)
        self._opened: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._leaving = asyncio.Event()
        self._lock = threading.Lock()
        self._open = False
        self._waiting: set[_Answer] = set()
        self._broken: BaseException | None = None

    def __enter__(self) -> Self:
        """Start the thread and open the store; raises what opening it raises."""
        if self._thread.ident is not None:
            raise RuntimeError("A grading service is used once; make another one.")
        self._loop = asyncio.new_event_loop()
        self._thread.start()
        try:
            self._opened.result()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        """End what runs, and the thread; who still waits is cancelled."""
        self._stop()
        if self._broken is not None and kind is None:
            raise self._broken

    def submit(self, scheduled: ScheduledJob) -> _Answer:
        """Hand a job over; the future has its record, or raises.

        Cancelling the future does not take the job back: its record is stored all the same.

        Raises:
            RuntimeError: Outside of the with-block.
        """
        digest = scheduled.job.digest
        answer = _Answer()
        with self._lock:
            if not self._open:
                raise RuntimeError("The grading service takes jobs within its with-block only.")
            self._waiting.add(answer)
            answer.add_done_callback(self._waiting.discard)
            self._loop.call_soon_threadsafe(self._desk.take, digest, scheduled, answer)
        return answer

    async def execute(self, scheduled: ScheduledJob) -> ExecutionRecord:
        """Hand a job over and wait for its record, in a task of asyncio or trio, also by way of anyio.

        Cancelling the task ends the wait and nothing else: the job is executed and its record stored.

        Raises:
            MachineError: No guest can be started, or the record cannot be stored.
            concurrent.futures.CancelledError: The service was left before the record was there.
            RuntimeError: Outside of the with-block.
        """
        answer = self.submit(scheduled)
        await _answered(answer)
        return answer.result()

    @property
    def executed(self) -> int:
        """Jobs that were executed, those lost included."""
        return self._counts.executed

    @property
    def reused(self) -> int:
        """Jobs whose record was in the store before they were first handed over."""
        return self._counts.reused

    @property
    def duplicates(self) -> int:
        """Jobs that an equal one, handed over earlier, already stood for."""
        return self._counts.duplicates

    @property
    def lost(self) -> dict[str, ExecutionRecord]:
        """Records of jobs whose sandbox kept breaking, by job digest; not stored, so that a later run tries again."""
        return dict(self._counts.lost)

    @property
    def waiting(self) -> int:
        """Jobs that were handed over and are not back yet."""
        return len(self._waiting)

    def _stop(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the thread has ended by itself
            self._loop.call_soon_threadsafe(self._leaving.set)
        self._thread.join()

    def _work(self) -> None:
        """What the thread does, from beginning to end."""
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - nobody above: handed to those who enter, wait, or leave
            self._broken = error
            if not self._opened.done():
                self._opened.set_exception(error)
        finally:
            self._shut()
            for answer in list(self._waiting):
                _settle(answer, self._broken)

    async def _serve(self) -> None:
        with self._open_store() as store:
            self._desk = _Desk(self._scheduler, store, self._counts)
            self._open = True
            self._opened.set_result(None)
            try:
                await self._leaving.wait()
            finally:
                self._shut()
                await self._desk.close()

    def _shut(self) -> None:
        with self._lock:
            self._open = False


@dataclass(slots=True)
class _Counts:
    """What has happened so far; written in the service's thread only."""

    executed: int = 0
    reused: int = 0
    duplicates: int = 0
    lost: dict[str, ExecutionRecord] = field(default_factory=dict)


class _Desk:
    """What happens within the service's thread: each distinct job is looked up, executed if need be, and stored."""

    def __init__(self, scheduler: LiveScheduler, store: RecordStore, counts: _Counts) -> None:
        self._scheduler = scheduler
        self._store = store
        self._counts = counts
        self._session: LiveSession | None = None
        self._seen: set[str] = set()
        self._tasks: dict[str, asyncio.Task[ExecutionRecord]] = {}
        self._closed = False
        self._failure: BaseException | None = None

    def take(self, digest: str, scheduled: ScheduledJob, answer: _Answer) -> None:
        """See to it that the answer gets the job's record."""
        if self._closed:
            _settle(answer, self._failure)
            return
        is_new = digest not in self._seen
        self._seen.add(digest)
        self._counts.duplicates += not is_new
        if digest not in self._tasks:
            self._tasks[digest] = asyncio.create_task(self._record(digest, scheduled, is_new=is_new))
            self._tasks[digest].add_done_callback(lambda task: self._ended(digest, task))
        self._tasks[digest].add_done_callback(lambda task: self._deliver(task, answer))

    async def _record(self, digest: str, scheduled: ScheduledJob, *, is_new: bool) -> ExecutionRecord:
        record = self._counts.lost.get(digest) or self._store.get(digest)
        if record is not None:
            self._counts.reused += is_new
            return record
        if self._session is None:
            self._session = self._scheduler.open()
        record = await self._session.execute(scheduled)
        self._counts.executed += 1
        if record.exit_cause is ExitCause.LOST:
            self._counts.lost[digest] = record
        else:
            self._store.put(record)
        return record

    def _ended(self, digest: str, task: asyncio.Task[ExecutionRecord]) -> None:
        del self._tasks[digest]
        if not task.cancelled() and self._failure is None and (error := task.exception()) is not None:
            # What one job cannot have, no other can: a guest, a place to store its record.
            self._closed, self._failure = True, error
            self._give_up()

    def _deliver(self, task: asyncio.Task[ExecutionRecord], answer: _Answer) -> None:
        error = self._failure if task.cancelled() else task.exception()
        _settle(answer, error if task.cancelled() or error is not None else task.result())

    def _give_up(self) -> list[asyncio.Task[ExecutionRecord]]:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        return tasks

    async def close(self) -> None:
        """End what runs; who waits is cancelled."""
        self._closed = True
        await asyncio.gather(*self._give_up(), return_exceptions=True)
        if self._session is not None:
            await self._session.close()


def _settle(answer: _Answer, outcome: ExecutionRecord | BaseException | None) -> None:
    """End a wait: with a record, an exception, or, when there is neither, by cancelling it."""
    if outcome is None:
        answer.cancel()
        answer.set_running_or_notify_cancel()
    elif answer.set_running_or_notify_cancel():  # whoever asked may have cancelled it
        if isinstance(outcome, BaseException):
            answer.set_exception(outcome)
        else:
            answer.set_result(outcome)


async def _answered(answer: _Answer) -> None:
    """Wait, in whatever event loop this runs in, until the other thread has answered."""
    if _in_asyncio():
        came = asyncio.Event()
        call_soon: Callable[[Callable[[], None]], object] = asyncio.get_running_loop().call_soon_threadsafe
    elif "trio" in sys.modules:
        trio: Any = sys.modules["trio"]  # who runs under it has imported it; this project does not depend on it
        came = trio.Event()
        call_soon = trio.lowlevel.current_trio_token().run_sync_soon
    else:
        raise RuntimeError("Wait for a record in a task of asyncio or trio, or use submit().")

    def tell(_: _Answer) -> None:
        with contextlib.suppress(RuntimeError):  # that loop has ended, and whoever waited in it
            call_soon(came.set)

    answer.add_done_callback(tell)
    await came.wait()


def _in_asyncio() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False
