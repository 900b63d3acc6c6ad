"""Who runs beside whom when jobs come one by one, and when those that must run alone have their turn; no guests."""

import asyncio
import math
from collections.abc import Callable, Coroutine
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from interpreter_runs import make_job

from benchwright.execution.schedulers.base import Expectation, ScheduledJob
from benchwright.execution.schedulers.local import _Line, _Turns

JOB = make_job("def task_func():\n    return True\n")


def lasting(seconds: float) -> ScheduledJob:
    """A job that fills a core for that long, by its control run."""
    return ScheduledJob(
        job=JOB, expectation=Expectation(wall_seconds=seconds, cpu_seconds=seconds, memory_bytes=1 << 20)
    )


class Machine:
    """Turns, and jobs that hold theirs until they are told to end."""

    def __init__(self, workers: int, patience: float = math.inf) -> None:
        self.turns = _Turns(_Line(workers, 1 << 40), patience)
        self.running: list[str] = []
        self.log: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}

    def job(self, name: str, seconds: float = 1.0, *, first: bool = False) -> asyncio.Task[None]:
        """Hand over a job that may run beside others."""
        return self._start(name, lambda: self.turns.beside_others(lasting(seconds), first=first))

    def lonely(self, name: str) -> asyncio.Task[None]:
        """Hand over a job that must run alone."""
        return self._start(name, self.turns.alone)

    def _start(self, name: str, turn: Callable[[], Any]) -> asyncio.Task[None]:
        self._ends[name] = asyncio.Event()

        async def run() -> None:
            async with turn():
                self.running.append(name)
                self.log.append(name)
                try:
                    await self._ends[name].wait()
                finally:
                    self.running.remove(name)

        return asyncio.create_task(run())

    async def end(self, *names: str) -> None:
        """Let jobs end, and everything settle."""
        for name in names:
            self._ends[name].set()
        await settled()


async def settled() -> None:
    """Wait until whatever may happen at once has happened."""
    for _ in range(10):
        await asyncio.sleep(0)


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a story of a machine, and leave nothing of it behind."""

    async def main() -> None:
        await story()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()  # type: ignore[union-attr]
        await asyncio.gather(*tasks, return_exceptions=True)  # type: ignore[arg-type]

    asyncio.run(main())


def test_of_those_that_wait_the_longest_is_next() -> None:
    """Jobs handed over together start longest first, and a longer one that comes later overtakes those in line."""

    async def story() -> None:
        machine = Machine(workers=1)
        for seconds in (2, 9, 5):
            machine.job(str(seconds), seconds)
        await settled()
        assert machine.running == ["9"]
        machine.job("7", 7)
        for name in ("9", "7", "5", "2"):
            await machine.end(name)
        assert machine.log == ["9", "7", "5", "2"]

    run(story)


def test_a_repeat_goes_to_the_front_of_the_line() -> None:
    """What is put first starts before longer ones, in the order in which it came."""

    async def story() -> None:
        machine = Machine(workers=1)
        machine.job("running", 1)
        await settled()
        machine.job("long", 90)
        machine.job("again", 1, first=True)
        machine.job("and again", 2, first=True)
        await machine.end("running", "again", "and again")
        assert machine.log == ["running", "again", "and again", "long"]

    run(story)


def test_alone_means_alone() -> None:
    """A job that must run alone waits for those that run, and nothing starts beside it."""

    async def story() -> None:
        machine = Machine(workers=2)
        machine.job("one")
        machine.job("two")
        machine.lonely("alone")
        await machine.end("one")
        assert machine.running == ["two"]
        await machine.end("two")
        assert machine.running == ["alone"]
        machine.job("three")
        machine.lonely("alone too")
        await settled()
        assert machine.running == ["alone"]
        await machine.end("alone")
        assert machine.running == ["three"], "those in line go first"
        await machine.end("three")
        assert machine.running == ["alone too"]

    run(story)


def test_nobody_has_to_hand_over_another_job() -> None:
    """A job that must run alone has its turn at once when nothing runs and nobody comes."""

    async def story() -> None:
        machine = Machine(workers=2)
        machine.lonely("alone")
        await settled()
        assert machine.running == ["alone"]

    run(story)


def test_with_endless_patience_all_others_go_first() -> None:
    """As long as somebody is in line, a job that must run alone waits."""

    async def story() -> None:
        machine = Machine(workers=1)
        machine.job("0")
        await settled()
        machine.lonely("alone")
        for number in range(5):
            machine.job(str(number + 1))
            await machine.end(str(number))
        await machine.end("5")
        assert machine.log == [*"012345", "alone"]

    run(story)


def test_who_has_waited_too_long_to_be_alone_stops_the_line() -> None:
    """Past its patience nobody starts until those running have ended and it has had its turn; then the line goes on."""

    async def story() -> None:
        machine = Machine(workers=2, patience=0.0)
        machine.job("one")
        machine.job("two")
        await settled()
        machine.lonely("alone")
        machine.job("three")
        machine.job("four")
        await machine.end("one")
        assert machine.running == ["two"], "a worker is kept free"
        await machine.end("two")
        assert machine.running == ["alone"]
        await machine.end("alone")
        assert machine.running == ["three", "four"]

    run(story)


def test_a_job_given_up_in_line_is_passed_over() -> None:
    """Cancelling who waits in line, or to be alone, takes nobody's turn."""

    async def story() -> None:
        machine = Machine(workers=1)
        machine.job("one")
        await settled()
        given_up = [machine.job("long", 50), machine.lonely("alone")]
        machine.job("two")
        await settled()
        for task in given_up:
            task.cancel()
        await machine.end("one")
        assert machine.running == ["two"]
        await machine.end("two")
        assert machine.log == ["one", "two"]

    run(story)


def test_giving_up_a_job_that_stopped_the_line_lets_the_line_go_on() -> None:
    """Nobody waits any longer for one that is no longer to run alone."""

    async def story() -> None:
        machine = Machine(workers=2, patience=0.0)
        machine.job("one")
        await settled()
        alone = machine.lonely("alone")
        machine.job("two")
        await settled()
        assert machine.running == ["one"]
        alone.cancel()
        await settled()
        assert machine.running == ["one", "two"]

    run(story)


def test_a_turn_that_comes_together_with_its_cancellation_is_handed_on() -> None:
    """A job that is given up after it got its turn, but before it knew, does not keep a worker, nor the machine."""

    async def story() -> None:
        for start in (Machine.job, Machine.lonely):
            machine = Machine(workers=1)
            machine.job("one")
            await settled()
            late = start(machine, "late")
            machine._ends["one"].set()
            while machine.running:
                await asyncio.sleep(0)
            late.cancel()
            machine.job("two")
            await settled()
            assert machine.running == ["two"]

    run(story)


@given(
    st.lists(st.sampled_from(["job", "lonely", "cancel", "end"]), max_size=40),
    st.integers(1, 3),
    st.sampled_from([0.0, math.inf]),
    st.randoms(use_true_random=False),
)
def test_everybody_has_a_turn_and_nobody_disturbs_the_lonely(
    events: list[str], workers: int, patience: float, random: Any
) -> None:
    """Whatever comes, ends or is given up, and when: who must be alone is, and in the end all have had their turn."""

    async def story() -> None:
        machine = Machine(workers, patience)
        tasks: dict[str, asyncio.Task[None]] = {}

        async def look() -> None:
            await settled()
            lonely = [name for name in machine.running if name.startswith("lonely")]
            assert len(machine.running) == 1 if lonely else len(machine.running) <= workers
            assert machine.running or all(task.done() for task in tasks.values()), "somebody waits and nobody runs"

        for number, event in enumerate(events):
            name = f"{event} {number}"
            pending = [name for name, task in tasks.items() if not task.done()]
            if event == "job":
                tasks[name] = machine.job(name, random.uniform(0, 9))
            elif event == "lonely":
                tasks[name] = machine.lonely(name)
            elif event == "cancel" and pending:
                tasks[random.choice(pending)].cancel()
            elif event == "end" and machine.running:
                await machine.end(random.choice(machine.running))
            await (look() if random.random() < 0.5 else _nothing())
        await look()
        while machine.running:
            await machine.end(*machine.running)
            await look()
        assert all(name in machine.log or task.cancelled() for name, task in tasks.items())

    run(story)


async def _nothing() -> None:
    pass
