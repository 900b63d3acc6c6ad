"""The local scheduler: warmed guests on this machine, longest job first, sleepers beside CPU work.

A job is admitted by the share of a core its control run used: jobs that sleep or wait may run beside as many
CPU-bound ones as there are workers.  Without a control run a job counts as a whole worker.
"""

import asyncio
import contextlib
import dataclasses
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass

from benchwright.core.errors import MachineError, SandboxFault
from benchwright.core.execution import MIB, ExecutionRecord, ExitCause, Isolation, Job
from benchwright.execution import records
from benchwright.execution.mother import Mother, Slot
from benchwright.execution.schedulers.base import Expectation, ScheduledJob
from benchwright.execution.target import Target
from benchwright.sandboxes.cgroups import GroupFactory

_TRIES = 3
_LIGHT_SHARE = 0.5
"""A job that used less of a core than this in its control run counts as a sleeper."""
_LIGHT_PER_WORKER = 4
_IDLE_SHARE = 0.2
"""A timed-out job that used less of a core than this may be re-run beside others of its kind."""
_DEFAULT_MEMORY = 512 * MIB


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


class LocalScheduler:
    """Runs jobs in warmed guests on this machine; a `Scheduler`."""

    def __init__(self, target: Target, options: LocalOptions) -> None:
        self._target = target
        self._options = options

    def run(self, jobs: Iterable[ScheduledJob]) -> Iterator[tuple[Job, ExecutionRecord]]:
        """Execute all jobs and yield each with its record, as they end.

        Raises:
            MachineError: No guest can be started in the environment.
            IsolationRefusedError: The kernel refuses the isolation level.
        """
        with asyncio.Runner() as runner:
            crew = _Crew(self._target, self._options)
            try:
                yield from self._drive(runner, crew, deque(jobs))
            finally:
                runner.run(crew.close())

    def _drive(
        self, runner: asyncio.Runner, crew: "_Crew", jobs: deque[ScheduledJob]
    ) -> Iterator[tuple[Job, ExecutionRecord]]:
        line = _Line(jobs, self._options.workers, _memory_budget(self._options.memory_share))
        timeouts: list[tuple[ScheduledJob, ExecutionRecord]] = []
        with contextlib.closing(_stream(runner, crew, line)) as ended:
            for scheduled, record in ended:
                if self._options.rerun_timeouts and record.exit_cause is ExitCause.WALL_TIME:
                    timeouts.append((scheduled, record))
                else:
                    yield scheduled.job, record
        for group in _quiet_groups(timeouts):
            alone = _Line(deque(group), len(group), 1 << 62)
            with contextlib.closing(_stream(runner, crew, alone)) as ended:
                for scheduled, record in ended:
                    yield scheduled.job, dataclasses.replace(record, attempts=record.attempts + 1)


def _quiet_groups(timeouts: list[tuple[ScheduledJob, ExecutionRecord]]) -> Iterator[list[ScheduledJob]]:
    """Jobs to re-run: those that hardly used the CPU together (they cannot disturb each other), others alone."""
    idle = [s for s, r in timeouts if r.cpu_seconds < _IDLE_SHARE * r.wall_seconds]
    for start in range(0, len(idle), 16):
        yield [ScheduledJob(job=s.job) for s in idle[start : start + 16]]
    for scheduled, record in timeouts:
        if record.cpu_seconds >= _IDLE_SHARE * record.wall_seconds:
            yield [ScheduledJob(job=scheduled.job)]


def _memory_budget(share: float) -> int:
    with open("/proc/meminfo") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(int(line.split()[1]) * 1024 * share)
    return 1 << 62


class _Line:
    """The waiting jobs and the rule by which the next one is admitted."""

    def __init__(self, jobs: Iterable[ScheduledJob], workers: int, memory: int) -> None:
        ordered = sorted(jobs, key=lambda s: -s.expectation.wall_seconds if s.expectation else 0.0)
        self._light = deque(s for s in ordered if _share(s) < _LIGHT_SHARE)
        self._heavy = deque(s for s in ordered if _share(s) >= _LIGHT_SHARE)
        self._workers = workers
        self._memory = memory
        self._running: dict[int, ScheduledJob] = {}

    def __bool__(self) -> bool:
        return bool(self._light or self._heavy)

    def next(self) -> ScheduledJob | None:
        """The job to start now, or None while there is no room."""
        running = self._running.values()
        memory = sum(_memory(s) for s in running)
        heavy = sum(1 for s in running if _share(s) >= _LIGHT_SHARE)
        light = len(running) - heavy
        load = sum(_share(s) for s in running)
        if self._light and light < _LIGHT_PER_WORKER * self._workers:
            candidate = self._light[0]
            if not running or (load < self._workers and memory + _memory(candidate) <= self._memory):
                return self._start(self._light)
        if self._heavy and heavy < self._workers:
            if not running or memory + _memory(self._heavy[0]) <= self._memory:
                return self._start(self._heavy)
        return None

    def _start(self, queue: deque[ScheduledJob]) -> ScheduledJob:
        scheduled = queue.popleft()
        self._running[id(scheduled)] = scheduled
        return scheduled

    def done(self, scheduled: ScheduledJob) -> None:
        """Take note that a job has ended."""
        del self._running[id(scheduled)]


def _share(scheduled: ScheduledJob) -> float:
    expected = scheduled.expectation
    if expected is None or expected.wall_seconds <= 0.5:
        return 1.0  # too short to tell, and not worth sorting
    return min(1.0, max(0.02, expected.cpu_seconds / expected.wall_seconds))


def _memory(scheduled: ScheduledJob) -> int:
    expected: Expectation | None = scheduled.expectation
    return expected.memory_bytes if expected else _DEFAULT_MEMORY


def _stream(
    runner: asyncio.Runner, crew: "_Crew", line: _Line
) -> Generator[tuple[ScheduledJob, ExecutionRecord], None, None]:
    """Run everything in line; control returns to the caller whenever a job has ended."""
    tasks: dict[asyncio.Task[ExecutionRecord], ScheduledJob] = {}

    async def step() -> list[tuple[ScheduledJob, ExecutionRecord]]:
        while (scheduled := line.next()) is not None:
            tasks[asyncio.create_task(crew.execute(scheduled.job))] = scheduled
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        ended = []
        for task in done:
            scheduled = tasks.pop(task)
            line.done(scheduled)
            ended.append((scheduled, task.result()))
        # Start the next jobs before the caller gets to work on these.
        while (scheduled_next := line.next()) is not None:
            tasks[asyncio.create_task(crew.execute(scheduled_next.job))] = scheduled_next
        await asyncio.sleep(0)
        return ended

    try:
        while line or tasks:
            yield from runner.run(step())
    finally:
        for task in tasks:
            task.cancel()
        if tasks:
            runner.run(_settle(list(tasks)))


async def _settle(tasks: list[asyncio.Task[ExecutionRecord]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


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

    async def execute(self, job: Job) -> ExecutionRecord:
        """One job to its record; the only place where a `SandboxFault` is caught."""
        reason = ""
        for attempt in range(1, _TRIES + 1):
            slot: Slot | None = None
            try:
                slot = await self._take(job.tier)
                raw = await slot.run(job, self._target.unavailable_modules)
                record = records.build(job, raw)
            except SandboxFault as fault:
                reason = str(fault)
                self._drop(slot)
                continue
            except BaseException:
                self._drop(slot)
                raise
            self._give_back(job.tier, slot)
            return dataclasses.replace(record, attempts=attempt)
        return records.lost(job, reason, _TRIES)

    async def _take(self, tier: str) -> Slot:
        idle = self._idle.setdefault(tier, [])
        slot = idle.pop() if idle else await (await self._mother(tier)).slot()
        self._busy.add(slot)
        return slot

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
        tiers = {tier.name: tier for tier in self._target.tiers}
        if name not in tiers:
            raise MachineError(f"Environment {self._target.name} has no guest tier {name!r}; known: {', '.join(tiers)}.")
        mother = Mother(self._target, tiers[name], self._options.isolation, self._groups)
        self._started.append(mother)
        await mother.start()
        return mother

    async def close(self) -> None:
        """End every slot and mother."""
        for task in self._mothers.values():
            task.cancel()
        for mother in self._started:
            mother.close()
        slots = [*self._busy, *(slot for slots in self._idle.values() for slot in slots)]
        await asyncio.gather(*self._leaving, *(slot.close() for slot in slots))


def _has_died(mother: asyncio.Task[Mother]) -> bool:
    """Whether a mother that had started is gone; one that could not start raises for every job that asks."""
    return mother.done() and not mother.cancelled() and mother.exception() is None and not mother.result().alive

