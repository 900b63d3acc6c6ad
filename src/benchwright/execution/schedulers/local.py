"""The local scheduler: warmed guests on this machine, longest job first, sleepers beside CPU work.

A job is admitted by the share of a core its control run used: jobs that sleep or wait may run beside as many
CPU-bound ones as there are workers.  Without a control run a job counts as a whole worker.
"""

import asyncio
import dataclasses
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

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
"""A timed-out job that used less of a core than this is re-run beside others; the rest wait until they are alone."""
_SECOND_AFTER = 0.3
"""Share of its wall limit after which a job that is expected to wait gets its second run beside the first."""
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
        again: set[int] = set()
        busy: list[ScheduledJob] = []
        for scheduled, record in _stream(runner, crew, line):
            if scheduled.job.digest in crew.confirmed:
                yield scheduled.job, record
            elif id(scheduled) in again:
                yield scheduled.job, dataclasses.replace(record, attempts=record.attempts + 1)
            elif record.exit_cause is not ExitCause.WALL_TIME or not self._options.repeats(scheduled.job):
                yield scheduled.job, record
            elif record.cpu_seconds < _IDLE_SHARE * record.wall_seconds:
                # It waited rather than worked: load did not slow it, and its second run disturbs nobody.
                again.add(id(line.again(scheduled.job, record)))
            else:
                busy.append(scheduled)
        for scheduled in busy:
            for _, record in _stream(runner, crew, _Line([scheduled], 1, _UNLIMITED)):
                yield scheduled.job, dataclasses.replace(record, attempts=record.attempts + 1)


def _memory_budget(share: float) -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(int(line.split()[1]) * 1024 * share)
    return _UNLIMITED


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

    def again(self, job: Job, record: ExecutionRecord) -> ScheduledJob:
        """Put a job that hardly uses the CPU to the front, for its second run; returns it as it now stands."""
        expectation = Expectation(
            wall_seconds=record.wall_seconds, cpu_seconds=record.cpu_seconds, memory_bytes=record.memory_peak_bytes
        )
        scheduled = ScheduledJob(job=job, expectation=expectation)
        self._light.appendleft(scheduled)
        return scheduled

    def next(self) -> ScheduledJob | None:
        """The job to start now, or None while there is no room."""
        running = self._running.values()
        memory = self._memory - sum(_memory(s) for s in running)
        light = [_share(s) for s in running if _share(s) < _LIGHT_SHARE]
        heavy = len(running) - len(light)
        room = len(light) < _LIGHT_PER_WORKER * self._workers and sum(light) < _LIGHT_SHARE * self._workers
        if self._light and room and (not running or _memory(self._light[0]) <= memory):
            return self._start(self._light)
        fits = bool(self._heavy) and (not running or _memory(self._heavy[0]) <= memory)
        return self._start(self._heavy) if fits and heavy < self._workers else None

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

    def start_what_fits() -> None:
        while (scheduled := line.next()) is not None:
            execute = crew.execute_waiting if _share(scheduled) < _LIGHT_SHARE else crew.execute
            tasks[asyncio.create_task(execute(scheduled.job))] = scheduled

    async def step() -> list[tuple[ScheduledJob, ExecutionRecord]]:
        start_what_fits()
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        ended = []
        for task in done:
            scheduled = tasks.pop(task)
            line.done(scheduled)
            ended.append((scheduled, task.result()))
        start_what_fits()  # before the caller gets to work on these
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
        self.confirmed: set[str] = set()
        """Digests of jobs that ran out of wall time twice."""

    async def execute_waiting(self, job: Job) -> ExecutionRecord:
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
                        return record
                    late.append(record)
            if all(record.exit_cause is ExitCause.WALL_TIME for record in late) and len(late) > 1:
                self.confirmed.add(job.digest)
            return dataclasses.replace(late[-1], attempts=sum(record.attempts for record in late))
        finally:
            for run in runs:
                run.cancel()
            await asyncio.gather(*runs, return_exceptions=True)

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
            raise MachineError(
                f"Environment {self._target.name} has no guest tier {name!r}; known: {', '.join(tiers)}."
            )
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
