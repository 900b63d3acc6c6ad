"""What happens when parts of the engine die, cannot start, or are refused."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from interpreter_runs import (
    MARK,
    LocalUnderTest,
    execute,
    interpreter_target,
    kill,
    make_job,
)

from benchwright.core.errors import MachineError
from benchwright.core.execution import ExecutionRecord, ExitCause, TestOutcome
from benchwright.execution.schedulers.base import ScheduledJob
from benchwright.execution.schedulers.local import LocalOptions, LocalScheduler
from benchwright.sandboxes.cgroups import GroupFactory

pytestmark = pytest.mark.namespaces

RIGHT = "def task_func():\n    return True\n"
SOON = 60.0


def until(condition: Callable[[], bool]) -> bool:
    """Wait for a condition; whether it came."""
    end = time.monotonic() + SOON
    while not (came := condition()) and time.monotonic() < end:  # asked once more, it might be over again
        time.sleep(0.01)
    return came


def test_killed_guests_are_started_anew() -> None:
    """Mother and slots killed in any order and twice cost time and no job; then nothing is left of them.

    Neither what was idle is asked, nor who is dying: that hangs up before it can be seen to be gone, so that one turn
    shows little.
    """
    came = [record for turn in range(8) for record in run_with_two_kills(youngest_first=turn % 2 == 1)]
    assert [record.exit_cause for record in came] == [ExitCause.FINISHED] * 8 * 9
    assert max(record.attempts for record in came) > 1


def run_with_two_kills(*, youngest_first: bool) -> list[ExecutionRecord]:
    """Nine jobs; all processes are killed after the first and the sixth."""
    subject = LocalUnderTest()
    jobs = [ScheduledJob(job=make_job(f"# {number}\n{RIGHT}")) for number in range(9)]
    came = []
    for _, record in subject.make(workers=3).run(jobs):
        came.append(record)
        if len(came) in (1, 6):
            kill(sorted(subject.processes(), reverse=youngest_first))
    assert until(lambda: not subject.processes())
    return came


def killed_at_first(folder: Path, times: int) -> Path:
    """A Python that is killed the first so many times it is started; ``folder/killed`` has a line for each."""
    wrapper = folder / "python"
    (folder / "killed").write_text("")
    kill_itself = f"{{ echo >> {folder}/killed; kill -9 $$; }}"
    wrapper.write_text(
        f'#!/bin/sh\ntest $(wc -l < {folder}/killed) -ge {times} || {kill_itself}\nexec {sys.executable} "$@"\n'
    )
    wrapper.chmod(0o755)
    return wrapper


def test_a_guest_that_is_killed_while_it_starts_is_started_again(tmp_path: Path) -> None:
    """That is bad luck, of which no job that waits for the guest hears."""
    jobs = {str(number): make_job(f"# {number}\n{RIGHT}") for number in range(4)}
    found = execute(jobs, target=replace(interpreter_target(), python=killed_at_first(tmp_path, 2)))
    assert {(record.exit_cause, record.attempts) for record in found.values()} == {(ExitCause.FINISHED, 1)}
    assert (tmp_path / "killed").read_text() == "\n" * 2


def test_a_guest_that_is_always_killed_while_it_starts_is_named(tmp_path: Path) -> None:
    """After a bounded number of times the run ends with a sentence."""
    jobs = {str(number): make_job(f"# {number}\n{RIGHT}") for number in range(4)}
    with pytest.raises(MachineError, match=r"killed each of the 3 times.*bw env check interpreter"):
        execute(jobs, target=replace(interpreter_target(), python=killed_at_first(tmp_path, 1000)))
    assert (tmp_path / "killed").read_text() == "\n" * 3


def test_a_killed_mother_alone_does_not_end_the_run() -> None:
    """Slots live on without the mother they came from, and what needs a new one gets it."""
    subject = LocalUnderTest()
    jobs = [ScheduledJob(job=make_job(f"# {number}\n{RIGHT}")) for number in range(6)]
    came = []
    for _, record in subject.make().run(jobs):
        came.append(record)
        kill(subject.mothers())
    assert [record.exit_cause for record in came] == [ExitCause.FINISHED] * 6


@pytest.mark.skipif(not GroupFactory().available, reason="no control group may be made here")
def test_no_control_group_is_left_behind() -> None:
    """The folders made for slots are removed at the end, also when slots were dropped on the way."""
    (root,) = GroupFactory()._roots
    pattern = f"benchwright-{os.getpid()}-*"
    before = set(root.glob(pattern))
    subject = LocalUnderTest()
    running = subject.make().run([ScheduledJob(job=make_job(f"# {number}\n{RIGHT}")) for number in range(4)])
    next(running)
    kill(subject.processes())
    with contextlib.suppress(StopIteration):
        next(running)
    assert hasattr(running, "close")
    running.close()
    assert set(root.glob(pattern)) == before


HOST = """
import sys
sys.path[:0] = {paths!r}
from interpreter_runs import LocalUnderTest, make_job
from benchwright.execution.schedulers.base import ScheduledJob
from benchwright.core.execution import Isolation
subject = LocalUnderTest(mark={mark!r}, isolation=Isolation({isolation!r}))
jobs = [make_job(f"# {{n}}\\nimport time, subprocess\\ndef task_func():\\n    subprocess.run(['sleep', '60'])\\n",
                 isolation=subject.isolation) for n in range(2)]
list(subject.make().run([ScheduledJob(job=job) for job in jobs]))
"""


@pytest.mark.parametrize("isolation", ["namespace", "process"])
def test_nothing_outlives_a_killed_host(isolation: str) -> None:
    """`kill -9` of the host program ends guests, slots and jobs with everything they started."""
    subject = LocalUnderTest()
    program = HOST.format(paths=[str(Path(__file__).parent)], mark=subject.mark, isolation=isolation)
    host = subprocess.Popen([sys.executable, "-c", program])
    try:
        # a mother, slots, their children, and what those started
        assert until(lambda: len(subject.processes()) >= 4), subject.processes()
    finally:
        host.send_signal(signal.SIGKILL)
        host.wait()
    assert until(lambda: not subject.processes()), f"left: {subject.processes()}"


def test_processes_carry_the_mark() -> None:
    """The tests above would prove nothing if processes could not be found by their mark."""
    subject = LocalUnderTest()
    found = []
    running = subject.make().run([ScheduledJob(job=make_job(RIGHT))])
    for _ in running:
        found = subject.processes()
    assert len(found) >= 2, "a mother and a slot"
    assert MARK in interpreter_target(**{MARK: "x"}).variables


@pytest.mark.parametrize(
    ("python", "words"), [("/nonexistent/python", "cannot be started"), ("/bin/false", "did not start")]
)
def test_an_interpreter_that_does_not_start_is_named(python: str, words: str) -> None:
    """A broken environment is one sentence, not a traceback, and says how to check it."""
    target = replace(interpreter_target(), python=Path(python))
    with pytest.raises(MachineError, match=words) as caught:
        execute({"one": make_job(RIGHT)}, target=target)
    assert "bw env check interpreter" in str(caught.value)


def test_a_guest_that_says_much_while_it_starts_does_not_hang(tmp_path: Path) -> None:
    """Libraries may write any amount to standard error while they are imported."""
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nhead -c 300000 /dev/zero >&2\nexec {sys.executable} "$@"\n')
    wrapper.chmod(0o755)
    record = execute({"one": make_job(RIGHT)}, target=replace(interpreter_target(), python=wrapper))["one"]
    assert record.exit_cause is ExitCause.FINISHED


def test_the_last_words_of_a_guest_that_does_not_start_are_kept(tmp_path: Path) -> None:
    """What it wrote to standard error is in the message, clipped."""
    wrapper = tmp_path / "python"
    wrapper.write_text("#!/bin/sh\nhead -c 300000 /dev/zero >&2\necho no such library >&2\nexit 1\n")
    wrapper.chmod(0o755)
    with pytest.raises(MachineError, match="no such library") as caught:
        execute({"one": make_job(RIGHT)}, target=replace(interpreter_target(), python=wrapper))
    assert len(str(caught.value)) < 1000


def test_an_unknown_tier_is_named() -> None:
    """A job for a tier the environment does not have stops the run with the tiers it has."""
    target = interpreter_target()
    with pytest.raises(MachineError, match=r"'bare'.*known: other"):
        execute({"one": make_job(RIGHT)}, target=replace(target, tiers=(replace(target.tiers[0], name="other"),)))


def test_a_preload_that_fails_does_not_stop_the_guest() -> None:
    """What cannot be imported beforehand is left to the answers that ask for it."""
    record = execute({"one": make_job(RIGHT)}, target=interpreter_target(("no_such_module", "json")))["one"]
    assert record.exit_cause is ExitCause.FINISHED


def test_jobs_are_taken_from_any_iterable() -> None:
    """A generator of jobs is as good as a list."""
    scheduler = LocalScheduler(interpreter_target(), LocalOptions(workers=1))
    jobs = (ScheduledJob(job=make_job(f"# {number}\n{RIGHT}")) for number in range(3))
    outcomes = [record.tests[0].outcome for _, record in scheduler.run(jobs)]
    assert outcomes == [TestOutcome.PASSED] * 3
