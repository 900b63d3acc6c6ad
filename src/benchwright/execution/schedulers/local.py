"""The local scheduler: warmed guests on this machine, longest job first, sleepers beside CPU work.

A job is admitted by the share of a core its control run used: jobs that sleep or wait may run beside as many
CPU-bound ones as there are workers.  Without a control run a job counts as a whole worker.

Every job goes its own way through a session (`_Session`): it waits for its turn (`_Turns`, by the rule of `_Line`), is
executed by the crew (`_Crew`), and perhaps waits for another turn.  Whether all jobs are there from the start or come
one by one makes no difference but for when those that must run alone have theirs.
"""

import asyncio
import dataclasses
import heapq
import itertools
import math
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from benchwright.core.errors import MachineError, SandboxFault
from benchwright.core.execution import MIB, ExecutionRecord, ExitCause, Isolation, Job
from benchwright.execution import records
from benchwright.execution.mother import Mother, Slot
from benchwright.execution.schedulers.base import Expectation, ScheduledJob
from benchwright.execution.target import Target
from benchwright.sandboxes.cgroups import GroupFactory

_TRIES = 3
"""Attempts at a job, starts of a guest that is killed meanwhile, and guests asked that die before they give a slot."""
_PAUSE_SECONDS = 0.1
"""After a slot broke, and twice as long the second time: what ended it may be about to end the others."""
_LIGHT_SHARE = 0.5
"""A job that used less of a core than this in its control run counts as a sleeper."""
_LIGHT_PER_WORKER = 4
_IDLE_SHARE = 0.2
"""A timed-out job that used less of a core than this is re-run beside others; the rest wait until they are alone."""
_SECOND_AFTER = 0.3
"""Share of its wall limit after which a job that is expected to wait gets its second run beside the first."""
_ALONE_PATIENCE_SECONDS = 120.0
"""How long a job that must run alone lets others that came later go first, where jobs come one by one.

While it has the machine, and before, until those running have ended, a worker is idle; this keeps that rare.  Nearly
always the line runs empty earlier.
"""
_DEFAULT_MEMORY = 512 * MIB
_UNLIMITED = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalOptions:
    """How this machine is used."""

    workers: int
    """CPU-bound jobs at once."""
    isolation: Isolation = Isolation.NAMESPACE
    rerun_timeouts: bool = True
    """Whether a job that ran out of wall time is run once more, alone, before that counts."""
    memory_share: float = 0.7
    """Share of the memory available at the start that running jobs may be expected to fill."""

    def repeats(self, job: Job) -> bool:
        """Whether running out of wall time counts only the second time."""
        return self.rerun_timeouts and job.limits.repeat_timeouts


class LocalScheduler:
    """Runs jobs in warmed guests on this machine; a `Scheduler` and a `LiveScheduler`."""

    def __init__(self, target: Target, options: LocalOptions) -> None:
        self._target = target
        self._options = options

    def run(self, jobs: Iterable[ScheduledJob]) -> Iterator[tuple[Job, ExecutionRecord]]:
        """Execute all jobs and yield each with its record, as they end.

        Raises:
            MachineError: No guest can be started in the environment.
            IsolationRefusedError: The kernel refuses the isolation level.
        """
        given = list(jobs)
        with asyncio.Runner() as runner:
            # All others are known: those that must run alone lose nothing by being last.
            session = _Session(self._target, self._options, patience=math.inf)
            try:
                yield from _as_they_end(runner, session, given)
            finally:
                runner.run(session.close())

    def open(self) -> "_Session":
        """Begin a session that takes jobs one by one; see `LiveScheduler`."""
        return _Session(self._target, self._options, patience=_ALONE_PATIENCE_SECONDS)


_Ended = tuple[Job, asyncio.Task[ExecutionRecord]]


def _as_they_end(
    runner: asyncio.Runner, session: "_Session", given: list[ScheduledJob]
) -> Iterator[tuple[Job, ExecutionRecord]]:
    """Hand everything over; control returns to the caller whenever a job has ended.

    The line looks at the first job of each kind only, so no more are in it: a hundred thousand tasks that wait would
    take 300 MB, and seconds to cancel.
    """
    ended: asyncio.Queue[_Ended] = asyncio.Queue()

    def hand_over(jobs: Iterator[ScheduledJob]) -> None:
        if (scheduled := next(jobs, None)) is not None:
            task = session.start(scheduled, lambda: hand_over(jobs))
            task.add_done_callback(lambda task: ended.put_nowait((scheduled.job, task)))

    async def begin() -> None:
        longest_first = sorted(given, key=_expected_seconds, reverse=True)
        hand_over(scheduled for scheduled in longest_first if _waits(scheduled))
        hand_over(scheduled for scheduled in longest_first if not _waits(scheduled))

    async def some() -> list[_Ended]:
        first = await ended.get()
        await asyncio.sleep(0)  # those that have their turn now are on their way before the caller gets to work
        return [first, *(ended.get_nowait() for _ in range(ended.qsize()))]

    runner.run(begin())
    left = len(given)
    while left:
        for job, task in runner.run(some()):
            left -= 1
            yield job, task.result()


class _Session:
    """Sees jobs through, from the line to a record that counts; a `LiveSession`."""

    def __init__(self, target: Target, options: LocalOptions, *, patience: float) -> None:
        self._options = options
        self._crew = _Crew(target, options)
        self._turns = _Turns(_Line(options.workers, _memory_budget(options.memory_share)), patience)
        self._tasks: set[asyncio.Task[ExecutionRecord]] = set()
        self._closed = False

    async def execute(self, scheduled: ScheduledJob) -> ExecutionRecord:
        """One job to its record; see `LiveSession`."""
        return await self.start(scheduled)

    def start(
        self, scheduled: ScheduledJob, has_turn: Callable[[], None] = lambda: None
    ) -> asyncio.Task[ExecutionRecord]:
        """The same as a task; ``has_turn`` is called when the job is no longer in line."""
        if self._closed:
            raise RuntimeError("The session is closed; open another one.")
        task = asyncio.create_task(self._see_through(scheduled, has_turn))
        self._tasks.add(task)
        task.add_done_callback(self._over)
        return task

    def _over(self, task: asyncio.Task[ExecutionRecord]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # no warning when `run` has raised that of the first, and nobody looks at the others'

    async def _see_through(self, scheduled: ScheduledJob, has_turn: Callable[[], None]) -> ExecutionRecord:
        job = scheduled.job
        async with self._turns.beside_others(scheduled):
            has_turn()
            if _waits(scheduled):
                record, counts = await self._crew.execute_waiting(job)
            else:
                record, counts = await self._crew.execute(job), False
        if counts or record.exit_cause is not ExitCause.WALL_TIME or not self._options.repeats(job):
            return record
        if record.cpu_seconds < _IDLE_SHARE * record.wall_seconds:
            # It waited rather than worked: load did not slow it, and its second run disturbs nobody.
            turn = self._turns.beside_others(ScheduledJob(job=job, expectation=_as_it_was(record)), first=True)
        else:
            turn = self._turns.alone()
        async with turn:
            second = await self._crew.execute(job)
        return dataclasses.replace(second, attempts=record.attempts + second.attempts)

    async def close(self) -> None:
        """End every job, slot and mother."""
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._crew.close()


def _memory_budget(share: float) -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(int(line.split()[1]) * 1024 * share)
    return _UNLIMITED


def _as_it_was(record: ExecutionRecord) -> Expectation:
    return Expectation(
        wall_seconds=record.wall_seconds, cpu_seconds=record.cpu_seconds, memory_bytes=record.memory_peak_bytes
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _InLine(ScheduledJob):
    """A job that waits for its turn, and the future that ends the wait."""

    turn: asyncio.Future[None]


class _Lonely(NamedTuple):
    """What waits to run alone, and since when."""

    turn: asyncio.Future[None]
    since: float


class _Turns:
    """Who may run now: many beside each other by the rule of the line, or one that needs the machine to itself."""

    def __init__(self, line: "_Line[_InLine]", patience: float) -> None:
        self._line = line
        self._patience = patience
        self._alone: deque[_Lonely] = deque()
        self._one_is_alone = False

    @asynccontextmanager
    async def beside_others(self, scheduled: ScheduledJob, *, first: bool = False) -> AsyncIterator[None]:
        """Wait for a turn in line, at its front if wanted, and hold it."""
        loop = asyncio.get_running_loop()
        waiting = _InLine(job=scheduled.job, expectation=scheduled.expectation, turn=loop.create_future())
        self._line.add(waiting, first=first)
        loop.call_soon(self._admit)  # not at once: those that come together are put in order first
        try:
            await waiting.turn
            yield
        finally:
            if not waiting.turn.cancelled():  # otherwise it is passed over when its turn comes
                self._line.done(waiting)
                self._admit()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Wait until nothing else runs, and see to it that nothing else starts meanwhile.

        Its turn comes when nobody is in line any more and all have ended.  When that takes longer than the patience,
        those in line wait as well, until those running have ended and it has had its turn.
        """
        loop = asyncio.get_running_loop()
        lonely = _Lonely(turn=loop.create_future(), since=loop.time())
        self._alone.append(lonely)
        loop.call_soon(self._admit)
        try:
            await lonely.turn
            yield
        finally:
            if not lonely.turn.cancelled():
                self._one_is_alone = False
            self._admit()  # also when it was given up: others may have waited for it

    def _admit(self) -> None:
        if self._one_is_alone:
            return
        while self._alone and self._alone[0].turn.cancelled():
            self._alone.popleft()
        if not self._is_overdue():
            self._admit_from_line()
        if self._alone and not self._line.running:
            self._one_is_alone = True
            self._alone.popleft().turn.set_result(None)

    def _is_overdue(self) -> bool:
        return bool(self._alone) and asyncio.get_running_loop().time() - self._alone[0].since >= self._patience

    def _admit_from_line(self) -> None:
        while (waiting := self._line.next()) is not None:
            if waiting.turn.cancelled():
                self._line.done(waiting)
            else:
                waiting.turn.set_result(None)


_Scheduled = TypeVar("_Scheduled", bound=ScheduledJob)
_Place = tuple[float, int]


class _Line(Generic[_Scheduled]):
    """The waiting jobs and the rule by which the next one is admitted; goes by the identity of a `ScheduledJob`."""

    def __init__(self, workers: int, memory: int) -> None:
        self._light: list[tuple[_Place, _Scheduled]] = []
        self._heavy: list[tuple[_Place, _Scheduled]] = []
        self._workers = workers
        self._memory = memory
        self._running: dict[int, _Scheduled] = {}
        self._numbers = itertools.count()  # those alike keep their order, and no two places are equal

    @property
    def running(self) -> bool:
        """Whether anything that was admitted has not ended."""
        return bool(self._running)

    def add(self, scheduled: _Scheduled, *, first: bool = False) -> None:
        """Take a job in, behind all that are expected to take longer, or in front of all."""
        place = (-math.inf if first else -_expected_seconds(scheduled), next(self._numbers))
        heapq.heappush(self._light if _waits(scheduled) else self._heavy, (place, scheduled))

    def next(self) -> _Scheduled | None:
        """The job to start now, or None while there is no room."""
        running = self._running.values()
        memory = self._memory - sum(_memory(s) for s in running)
        light = [_share(s) for s in running if _waits(s)]
        heavy = len(running) - len(light)
        room = len(light) < _LIGHT_PER_WORKER * self._workers and sum(light) < _LIGHT_SHARE * self._workers
        if self._light and room and (not running or _memory(self._light[0][1]) <= memory):
            return self._start(self._light)
        fits = bool(self._heavy) and (not running or _memory(self._heavy[0][1]) <= memory)
        return self._start(self._heavy) if fits and heavy < self._workers else None

    def _start(self, queue: list[tuple[_Place, _Scheduled]]) -> _Scheduled:
        _, scheduled = heapq.heappop(queue)
        self._running[id(scheduled)] = scheduled
        return scheduled

    def done(self, scheduled: _Scheduled) -> None:
        """Take note that a job has ended."""
        del self._running[id(scheduled)]


def _expected_seconds(scheduled: ScheduledJob) -> float:
    return scheduled.expectation.wall_seconds if scheduled.expectation else 0.0


def _share(scheduled: ScheduledJob) -> float:
    expected = scheduled.expectation
    if expected is None or expected.wall_seconds <= 0.5:
        return 1.0  # too short to tell, and not worth sorting
    return min(1.0, max(0.02, expected.cpu_seconds / expected.wall_seconds))


def _waits(scheduled: ScheduledJob) -> bool:
    return _share(scheduled) < _LIGHT_SHARE


def _memory(scheduled: ScheduledJob) -> int:
    expected: Expectation | None = scheduled.expectation
    return expected.memory_bytes if expected else _DEFAULT_MEMORY


class _Overlapped(NamedTuple):
    """What a job came to whose second run may have started before its first was given up."""

    record: ExecutionRecord
    counts: bool
    """Whether it ran out of wall time twice, so that it need not be repeated."""


class _Crew:
    """Mothers by tier and their idle slots."""

    def __init__(self, target: Target, options: LocalOptions) -> None:
        self._target = target
        self._options = options
        self._groups = GroupFactory()
        self._mothers: dict[str, asyncio.Task[Mother]] = {}
        self._started: list[Mother] = []
        self._idle: dict[str, list[Slot]] = {}
        self._busy: set[Slot] = set()
        self._leaving: set[asyncio.Task[None]] = set()

    async def execute_waiting(self, job: Job) -> _Overlapped:
        """A job that is expected to wait: when it takes long, its second run starts before the first is given up.

        Two that wait do not disturb each other; the first to end within its limit counts.
        """
        runs = [asyncio.create_task(self.execute(job))]
        try:
            patience = job.limits.wall_seconds * _SECOND_AFTER if self._options.repeats(job) else None
            await asyncio.wait(runs, timeout=patience)
            if not runs[0].done():
                runs.append(asyncio.create_task(self.execute(job)))
            pending, late = set(runs), []
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for run in done:
                    record = run.result()
                    if record.exit_cause not in (ExitCause.WALL_TIME, ExitCause.LOST):
                        return _Overlapped(record, counts=False)
                    late.append(record)
            twice = all(record.exit_cause is ExitCause.WALL_TIME for record in late) and len(late) > 1
            record = dataclasses.replace(late[-1], attempts=sum(record.attempts for record in late))
            return _Overlapped(record, counts=twice)
        finally:
            for run in runs:
                run.cancel()
            await asyncio.gather(*runs, return_exceptions=True)

    async def execute(self, job: Job) -> ExecutionRecord:
        """One job to its record; the only place where a `SandboxFault` ends an attempt, and becomes a record."""
        reason = ""
        for attempt in range(1, _TRIES + 1):
            _raise_if_cancelled()
            slot: Slot | None = None
            try:
                slot = await self._take(job.tier)
                raw = await slot.run(job, self._target.unavailable_modules)
                record = records.build(job, raw)
            except SandboxFault as fault:
                reason = str(fault)
                self._drop(slot)
                await asyncio.sleep(_PAUSE_SECONDS * attempt)
                continue
            except BaseException:
                self._drop(slot)
                raise
            self._give_back(job.tier, slot)
            return dataclasses.replace(record, attempts=attempt)
        return records.lost(job, reason, _TRIES)

    async def _take(self, tier: str) -> Slot:
        idle = self._idle.setdefault(tier, [])
        while idle:
            slot = idle.pop()
            if slot.alive:
                break
            self._drop(slot)
        else:
            slot = await self._new_slot(tier)
        self._busy.add(slot)
        return slot

    async def _new_slot(self, tier: str) -> Slot:
        """A slot of a mother that lives: that one has died meanwhile is no attempt at a job.

        Raises what `Mother.slot` does.
        """
        for _ in range(_TRIES - 1):
            mother = await self._mother(tier)
            try:
                return await mother.slot()
            except SandboxFault:
                if mother.alive:
                    raise
            _raise_if_cancelled()
        return await (await self._mother(tier)).slot()

    def _give_back(self, tier: str, slot: Slot) -> None:
        if slot.spent:
            self._drop(slot)
            return
        self._busy.discard(slot)
        self._idle[tier].append(slot)

    def _drop(self, slot: Slot | None) -> None:
        if slot is not None:
            self._busy.discard(slot)
            leaving = asyncio.create_task(slot.close())
            self._leaving.add(leaving)
            leaving.add_done_callback(self._leaving.discard)

    async def _mother(self, tier: str) -> Mother:
        task = self._mothers.get(tier)
        if task is None or _has_died(task):
            task = self._mothers[tier] = asyncio.create_task(self._start(tier))
        return await asyncio.shield(task)

    async def _start(self, name: str) -> Mother:
        """A mother that is ready; raises `MachineError` when there is none of that name, or it does not start."""
        tiers = {tier.name: tier for tier in self._target.tiers}
        if name not in tiers:
            raise MachineError(
                f"Environment {self._target.name} has no guest tier {name!r}; known: {', '.join(tiers)}."
            )
        for _ in range(_TRIES):
            _raise_if_cancelled()
            mother = Mother(self._target, tiers[name], self._options.isolation, self._groups)
            self._started.append(mother)
            try:
                await mother.start()
            except SandboxFault as fault:
                reason = fault
            else:
                return mother
        raise MachineError(
            f"The guest for {self._target.name} ({name}) was killed each of the {_TRIES} times that it was started; "
            f"is there too little memory? Try `bw env check {self._target.name}`."
        ) from reason

    async def close(self) -> None:
        """End every slot and mother."""
        for task in self._mothers.values():
            task.cancel()
        for mother in self._started:
            mother.close()
        slots = [*self._busy, *(slot for slots in self._idle.values() for slot in slots)]
        await asyncio.gather(*self._leaving, *(slot.close() for slot in slots))


def _raise_if_cancelled() -> None:
    """Raise what was swallowed on the way here.

    Up to Python 3.11 `asyncio.wait_for` does so when what it waits for ends in the same moment.  After Ctrl-C, which in
    a terminal ends the guests as well, the job would be tried again with new ones, and hold up the end.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _has_died(mother: asyncio.Task[Mother]) -> bool:
    """Whether a mother that had started is gone; one that could not start raises for every job that asks."""
    return mother.done() and not mother.cancelled() and mother.exception() is None and not mother.result().alive
