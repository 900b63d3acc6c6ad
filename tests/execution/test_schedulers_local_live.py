"""The local scheduler fed while it runs: real guests in the running interpreter."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from interpreter_runs import LocalUnderTest, interpreter_target, kill, make_job

from benchwright.core.errors import MachineError, SandboxFault
from benchwright.core.execution import ExecutionRecord, ExitCause, Job, Limits, TestOutcome
from benchwright.execution.mother import Slot
from benchwright.execution.records import RawExecution
from benchwright.execution.schedulers.base import Expectation, LiveSession, ScheduledJob
from benchwright.execution.schedulers.local import LocalOptions, LocalScheduler

pytestmark = pytest.mark.namespaces

SHORT = Limits(wall_seconds=0.6, cpu_seconds=20.0)
RIGHT = "def task_func():\n    return True\n"


def sleeping(seconds: float, limits: Limits | None = None) -> Job:
    """A job that waits."""
    code = f"import time\ndef task_func():\n    time.sleep({seconds})\n    return True\n"
    return make_job(code, limits=limits) if limits else make_job(code)


def spinning(number: int = 0) -> Job:
    """A job that computes until it is out of wall time."""
    return make_job(f"def task_func():\n    while True: pass\n# {number}\n", limits=SHORT)


def live(story: Callable[[LiveSession], Awaitable[None]], subject: LocalUnderTest | None = None) -> None:
    """Run a story of a session, and see to it that nothing is left of it."""
    subject = subject or LocalUnderTest()

    async def main() -> None:
        session = subject.make().open()
        try:
            await story(session)
        finally:
            await session.close()

    asyncio.run(main())
    end = time.monotonic() + 10
    while subject.processes() and time.monotonic() < end:
        time.sleep(0.005)
    assert not subject.processes()


def begin(session: LiveSession, job: Job, expectation: Expectation | None = None) -> asyncio.Task[ExecutionRecord]:
    """Hand a job over."""
    return asyncio.create_task(session.execute(ScheduledJob(job=job, expectation=expectation)))


def test_a_session_starts_no_process_before_its_first_job() -> None:
    """Opening costs nothing; the guest is started by the first job, and ended by closing."""
    subject = LocalUnderTest()

    async def story(session: LiveSession) -> None:
        assert subject.processes() == []
        record = await begin(session, make_job(RIGHT))
        assert record.tests[0].outcome is TestOutcome.PASSED
        assert record.attempts == 1
        assert subject.processes()

    live(story, subject)


def test_the_same_object_can_be_handed_over_twice_at_once() -> None:
    """Equal jobs are executed as often as they are given, even if they are one and the same object."""

    async def story(session: LiveSession) -> None:
        scheduled = ScheduledJob(job=make_job(RIGHT))
        came = await asyncio.gather(session.execute(scheduled), session.execute(scheduled))
        assert [record.exit_cause for record in came] == [ExitCause.FINISHED] * 2

    live(story)


def test_a_time_out_while_computing_is_repeated_although_nobody_hands_over_more() -> None:
    """A feeder that waits for that record gets it after two runs, the second one alone."""

    async def story(session: LiveSession) -> None:
        record = await asyncio.wait_for(begin(session, spinning()), 20)
        assert (record.exit_cause, record.attempts) == (ExitCause.WALL_TIME, 2)

    live(story)


def test_a_time_out_while_computing_is_repeated_when_nothing_else_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others that were handed over before and after go first; the repeat then counts."""
    # On a busy machine it hardly gets the CPU.
    monkeypatch.setattr("benchwright.execution.schedulers.local._IDLE_SHARE", 0.0)

    async def story(session: LiveSession) -> None:
        order: list[str] = []

        async def note(name: str, job: Job) -> None:
            await begin(session, job)
            order.append(name)

        tasks = [asyncio.create_task(note("busy", spinning())), asyncio.create_task(note("long", sleeping(6)))]
        await asyncio.sleep(0.7)  # the busy one is over its limit
        tasks += [asyncio.create_task(note("later", sleeping(0.1)))]
        await asyncio.gather(*tasks)
        assert order == ["later", "long", "busy"]

    live(story)


def test_who_waited_too_long_to_be_alone_goes_before_those_in_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A feeder that never pauses does not keep a repeat waiting for ever."""
    monkeypatch.setattr("benchwright.execution.schedulers.local._ALONE_PATIENCE_SECONDS", 0.0)

    async def story(session: LiveSession) -> None:
        ended = False
        count = 0

        async def feed() -> None:
            nonlocal count
            while not ended:
                count += 1
                await begin(session, make_job(f"# {count}\n{RIGHT}"))

        feeders = [asyncio.create_task(feed()) for _ in range(4)]  # two workers: the line is never empty
        record = await asyncio.wait_for(begin(session, spinning()), 20)
        ended = True
        await asyncio.gather(*feeders)
        assert (record.exit_cause, record.attempts) == (ExitCause.WALL_TIME, 2)
        assert count > 4

    live(story)


def test_a_time_out_while_waiting_is_repeated_beside_others() -> None:
    """A job that hardly used the CPU does not wait until it is alone."""

    async def story(session: LiveSession) -> None:
        long = begin(session, sleeping(50))
        record = await begin(session, sleeping(50, SHORT))
        assert (record.exit_cause, record.attempts) == (ExitCause.WALL_TIME, 2)
        assert not long.done()
        long.cancel()

    live(story)


def test_a_job_that_is_expected_to_wait_is_not_repeated_a_third_time() -> None:
    """Its second run starts before the first is given up; when both are late, that counts."""

    async def story(session: LiveSession) -> None:
        expected = Expectation(wall_seconds=1.0, cpu_seconds=0.01, memory_bytes=1 << 20)
        limits = replace(SHORT, wall_seconds=4.0)
        await begin(session, make_job(RIGHT))
        started = time.monotonic()
        record = await begin(session, sleeping(50, limits), expected)
        assert (record.exit_cause, record.attempts) == (ExitCause.WALL_TIME, 2)
        assert time.monotonic() - started < 2 * limits.wall_seconds

    live(story)


def test_a_job_that_is_expected_to_wait_and_does_is_executed_once() -> None:
    """Well within its limit there is no second run."""

    async def story(session: LiveSession) -> None:
        expected = Expectation(wall_seconds=1.0, cpu_seconds=0.01, memory_bytes=1 << 20)
        record = await begin(session, sleeping(0.05), expected)
        assert (record.exit_cause, record.attempts) == (ExitCause.FINISHED, 1)

    live(story)


def test_limits_that_forbid_it_are_not_repeated() -> None:
    """Under the official rule a time-out counts at once."""

    async def story(session: LiveSession) -> None:
        job = sleeping(50, replace(SHORT, repeat_timeouts=False))
        record = await begin(session, job)
        assert (record.exit_cause, record.attempts) == (ExitCause.WALL_TIME, 1)

    live(story)


def test_killed_guests_are_replaced_while_the_session_goes_on() -> None:
    """Mother and slots may die between two jobs; the next job gets new ones."""
    subject = LocalUnderTest()

    async def story(session: LiveSession) -> None:
        for number in range(3):
            record = await begin(session, make_job(f"# {number}\n{RIGHT}"))
            assert record.exit_cause is ExitCause.FINISHED
            kill(subject.processes())

    live(story, subject)


def test_a_job_given_up_in_the_moment_its_slot_breaks_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in a terminal ends guests and waiting alike; `asyncio.wait_for` of Python 3.11 then hides the latter.

    Jobs that slept were started anew in new guests while the program was ending, and held it up until they were done.
    """
    runs: list[Job] = []

    async def breaks_when_cancelled(slot: Slot, job: Job, watched: object) -> RawExecution:
        runs.append(job)
        try:
            await asyncio.sleep(50)
        except asyncio.CancelledError:
            raise SandboxFault("the slot ended in the same moment") from None
        raise AssertionError("nobody cancelled")

    monkeypatch.setattr(Slot, "run", breaks_when_cancelled)

    async def story(session: LiveSession) -> None:
        waiting = [begin(session, make_job(f"# {number}\n{RIGHT}")) for number in range(2)]
        while len(runs) < 2:
            await asyncio.sleep(0.001)
        waiting[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting[0]

    live(story)
    assert len(runs) == 2


def test_an_interpreter_that_does_not_start_is_raised_to_every_job() -> None:
    """No guest means no record, for those who wait together and for those who come later."""

    async def main() -> None:
        target = replace(interpreter_target(), python=Path("/nonexistent/python"))
        session = LocalScheduler(target, LocalOptions(workers=2)).open()
        try:
            first = [begin(session, make_job(f"# {number}\n{RIGHT}")) for number in range(3)]
            for task in [*first, begin(session, make_job(RIGHT))]:
                with pytest.raises(MachineError, match="cannot be started"):
                    await task
        finally:
            await session.close()

    asyncio.run(main())
