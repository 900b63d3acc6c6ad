"""Grading while answers are still being written, with real guests in the running interpreter."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from interpreter_runs import LocalUnderTest, interpreter_target, make_job

from benchwright.core.errors import MachineError
from benchwright.core.execution import ExecutionRecord, ExitCause, Job, Limits, TestOutcome
from benchwright.execution.schedulers.base import ScheduledJob
from benchwright.execution.schedulers.local import LocalOptions, LocalScheduler
from benchwright.grading.service import GradingService
from benchwright.store.records import RecordStore

pytestmark = pytest.mark.namespaces

RIGHT = "def task_func():\n    return True\n"
SOON = 120.0


def until(condition: Callable[[], bool]) -> bool:
    """Wait for a condition; whether it came."""
    end = time.monotonic() + SOON
    while not (came := condition()) and time.monotonic() < end:
        time.sleep(0.005)
    return came


def service(subject: LocalUnderTest, folder: Path) -> GradingService:
    """A service whose processes can be found."""
    return GradingService(subject.make(), lambda: RecordStore(folder / "records.sqlite"))


def right(number: int) -> ScheduledJob:
    """A job that passes."""
    return ScheduledJob(job=make_job(f"# {number}\n{RIGHT}"))


def sleeping(seconds: float) -> ScheduledJob:
    """A job that takes its time."""
    return ScheduledJob(job=make_job(f"import time\ndef task_func():\n    time.sleep({seconds})\n    return True\n"))


def spinning(number: int) -> Job:
    """A job that computes until it is out of wall time."""
    limits = Limits(wall_seconds=0.5, cpu_seconds=20.0)
    return make_job(f"def task_func():\n    while True: pass\n# {number}\n", limits=limits)


def test_grading_overlaps_generation(tmp_path: Path) -> None:
    """Replies that arrive one by one are graded while others are awaited, and while a long one is still running."""
    subject = LocalUnderTest()
    with service(subject, tmp_path) as grading:

        async def reply(number: int) -> ExecutionRecord:
            await asyncio.sleep(0.05 * number)
            return await grading.execute(right(number))

        async def main() -> None:
            long = asyncio.create_task(grading.execute(sleeping(6)))
            came = await asyncio.gather(*(reply(number) for number in range(6)))
            assert [record.tests[0].outcome for record in came] == [TestOutcome.PASSED] * 6
            assert not long.done()
            assert (await long).exit_cause is ExitCause.FINISHED

        asyncio.run(main())
        assert (grading.executed, grading.reused, grading.duplicates) == (7, 0, 0)
    assert until(lambda: not subject.processes())


def test_no_guest_is_started_for_what_is_there_already(tmp_path: Path) -> None:
    """The first job without a record starts the guests, no other."""
    subject = LocalUnderTest()
    with service(subject, tmp_path) as grading:
        assert subject.processes() == []
        grading.submit(right(1)).result(SOON)
        assert subject.processes()
    with service(subject, tmp_path) as grading:
        assert grading.submit(right(1)).result(SOON).exit_cause is ExitCause.FINISHED
        assert subject.processes() == []
        assert grading.reused == 1


def test_a_feeder_that_waits_for_a_time_out_gets_it(tmp_path: Path) -> None:
    """One reply at a time, each graded before the next is asked for: a repeat that must run alone does so at once."""
    subject = LocalUnderTest()
    with service(subject, tmp_path) as grading:

        async def main() -> None:
            for number in range(2):
                record = await grading.execute(ScheduledJob(job=spinning(number)))
                assert (record.exit_cause, record.attempts) == (ExitCause.WALL_TIME, 2)

        asyncio.run(asyncio.wait_for(main(), SOON))


def test_leaving_ends_what_runs(tmp_path: Path) -> None:
    """Neither running nor waiting jobs hold up the end, and no process is left."""
    subject = LocalUnderTest()
    with service(subject, tmp_path) as grading:
        answers = [grading.submit(sleeping(50 + number)) for number in range(4)]
        assert until(lambda: len(subject.processes()) >= 4), "a mother, two slots, two children"
        started = time.monotonic()
    assert time.monotonic() - started < 10
    assert all(answer.cancelled() for answer in answers)
    assert until(lambda: not subject.processes())


def test_an_interpreter_that_does_not_start_is_told_to_everybody(tmp_path: Path) -> None:
    """No guest, no records: all who wait and all who come later are told."""
    target = replace(interpreter_target(), python=Path("/nonexistent/python"))
    scheduler = LocalScheduler(target, LocalOptions(workers=2))
    with GradingService(scheduler, lambda: RecordStore(tmp_path / "records.sqlite")) as grading:
        for answer in [grading.submit(right(number)) for number in range(4)]:
            with pytest.raises(MachineError, match="cannot be started"):
                answer.result(SOON)
        with pytest.raises(MachineError, match="cannot be started"):
            asyncio.run(grading.execute(right(5)))


HOST = """
import asyncio, sys
sys.path[:0] = {paths!r}
from test_grading_service_guests import LocalUnderTest, Path, service, sleeping

async def main(grading):
    await asyncio.gather(*(grading.execute(sleeping(50 + number)) for number in range(3)))

with service(LocalUnderTest(mark={mark!r}), Path({folder!r})) as grading:
    asyncio.run(main(grading))
"""


@contextmanager
def started_host(subject: LocalUnderTest, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A program that grades jobs which sleep, in a process group of its own, once they run; ended with the body."""
    here = Path(__file__).parent
    paths = [str(here), str(here.parent / "execution")]
    program = HOST.format(paths=paths, mark=subject.mark, folder=str(folder))
    command = [sys.executable, "-W", "error", "-c", program]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as host:
        try:
            assert until(lambda: len(subject.processes()) >= 5 or host.poll() is not None), subject.processes()
            assert host.poll() is None, host.communicate()[1]
            yield host  # a mother, two slots, two children
        finally:
            host.kill()


@pytest.mark.parametrize("whole_group", [False, True], ids=["program", "terminal"])
def test_an_interruption_ends_cleanly(tmp_path: Path, whole_group: bool) -> None:
    """Ctrl-C, which in a terminal reaches guests as well, ends as a KeyboardInterrupt and leaves no process."""
    subject = LocalUnderTest()
    with started_host(subject, tmp_path) as host:
        (os.killpg if whole_group else os.kill)(host.pid, signal.SIGINT)
        _, errors = host.communicate(timeout=SOON)
    assert host.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt"), errors
    assert errors.count("Traceback") <= 3, errors  # the interruption, and the cancellation it was made of
    assert until(lambda: not subject.processes())


def test_nothing_outlives_a_killed_program(tmp_path: Path) -> None:
    """`kill -9` ends guests that were started from the service's thread as it does any others."""
    subject = LocalUnderTest()
    with started_host(subject, tmp_path) as host:
        host.kill()
        host.communicate()
    assert until(lambda: not subject.processes())
