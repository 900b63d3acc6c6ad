"""What a run does for its samples outside the agents' reach: counts, the journal, grading, findings."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from agent_pieces import BAD, GOOD, IDS, AgentRuns, ScriptedGrading

from benchwright.app.agents.harness import AgentProgress, RunHarness
from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.agents import graded_attempt
from benchwright.core.agents import AgentAttempt, Submission
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.budget import Budget, Ledger
from benchwright.core.errors import MachineError
from benchwright.store.agent_journal import NAME as JOURNAL
from benchwright.store.agent_journal import AgentJournal


@pytest.fixture
def harness(runs: AgentRuns) -> Any:
    """A harness of a run of six samples that nothing works on, with what it reports."""
    plan = runs.plan(samples=2)
    plan.folder.mkdir()
    reports: list[AgentProgress] = []
    given_up: list[Exception] = []
    with AgentJournal(plan.folder / JOURNAL) as journal:
        made = RunHarness(
            plan,
            runs.workspace,
            journal,
            Ledger(Budget(), None),
            log_folder="logs/1",
            report=reports.append,
            give_up=given_up.append,
        )
        yield made, reports, given_up


def attempt(key: SampleKey, ending: Ending = Ending.SUBMITTED, patch: str = GOOD) -> AgentAttempt:
    """What an agent left."""
    return AgentAttempt(problem_id=key.problem_id, sample=key.sample, ending=ending, submission=Submission(patch=patch))


def of_it(left: AgentAttempt) -> Attempt:
    """What is graded of it."""
    return graded_attempt(left, "m")


def counts(progress: AgentProgress) -> tuple[int, int, int, int, int, int]:
    """The numbers of samples."""
    return (
        progress.queued,
        progress.running,
        progress.finished,
        progress.graded,
        progress.resolved,
        progress.faults,
    )


def test_every_sample_is_in_one_place(harness: Any) -> None:
    """Queued, running or ended; a sample that failed or broke has ended and is one fault, not two."""
    made, reports, _ = harness
    one, two, three, four = [SampleKey(name, 0) for name in IDS] + [SampleKey(IDS[0], 1)]
    made.begun(one)
    assert counts(reports[-1]) == (5, 1, 0, 0, 0, 0)
    assert reports[-1].seconds_left is None
    made.finished(attempt(one))
    assert counts(reports[-1]) == (5, 0, 1, 0, 0, 0)
    assert reports[-1].seconds_left is not None
    made.grade(of_it(attempt(one)))
    assert counts(reports[-1]) == (5, 0, 1, 1, 1, 0)
    made.begun(two)
    made.finished(attempt(two, Ending.FAILED, ""))
    made.grade(of_it(attempt(two, Ending.FAILED, "")))
    assert counts(reports[-1]) == (4, 0, 2, 2, 1, 1)
    made.begun(three)
    made.broke(three, "SandboxFault: gone")
    assert counts(reports[-1]) == (3, 0, 3, 2, 1, 2) and made.broken == {three: "SandboxFault: gone"}
    made.begun(three)
    assert counts(reports[-1]) == (3, 1, 2, 2, 1, 1) and made.broken == {}
    made.put_off(three)
    assert counts(reports[-1]) == (4, 0, 2, 2, 1, 1) and made.broken == {}
    made.begun(four)
    assert counts(reports[-1]) == (3, 1, 2, 2, 1, 1)
    assert {progress.total for progress in reports} == {6}


def test_counts_hold_when_many_threads_move_at_once(harness: Any, runs: AgentRuns) -> None:
    """Nothing is lost or counted twice, whatever the order."""
    made, reports, _ = harness
    keys = [SampleKey(name, sample) for name in IDS for sample in (0, 1)]
    together = threading.Barrier(len(keys), timeout=30)

    def work(key: SampleKey) -> None:
        together.wait()
        made.begun(key)
        patch = BAD if key.problem_id == IDS[1] else GOOD
        made.finished(attempt(key, patch=patch))
        made.grade(of_it(attempt(key, patch=patch)))

    with ThreadPoolExecutor(len(keys)) as pool:
        list(pool.map(work, keys))
    made.tell()
    assert counts(reports[-1]) == (0, 0, 6, 6, 4, 0)
    assert {progress.total for progress in reports} == {6} and reports[-1].seconds_left == 0
    with AgentJournal(runs.folder / "out" / JOURNAL, read_only=True) as journal:
        assert Counter(journal.attempts.keys()) == Counter(keys)
        assert {one.log for one in journal.attempts.values()} == {"logs/1"}


def test_patches_of_one_problem_wait_for_each_other(
    harness: Any, runs: AgentRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a problem's control runs are made once."""
    made, _, _ = harness
    inside, release = threading.Event(), threading.Event()
    now = most = 0
    grade = ScriptedGrading.grade

    def slowly(self: ScriptedGrading, attempts: Any, *, control: bool) -> Any:
        nonlocal now, most
        now += 1
        most = max(most, now)
        inside.set()
        release.wait(30)
        now -= 1
        return grade(self, attempts, control=control)

    monkeypatch.setattr(ScriptedGrading, "grade", slowly)
    problem = runs.plan().selected.available[0]
    with ThreadPoolExecutor(3) as pool:
        first, second = (pool.submit(made.grade, of_it(attempt(SampleKey(problem.id, n)))) for n in (0, 1))
        assert inside.wait(30)
        release.set()
        assert first.result(30).row.sample == 0 and second.result(30).row.sample == 1
    assert most == 1


def test_what_cannot_be_graded_or_kept_is_told_at_once(harness: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that nobody is asked any more."""
    made, _, given_up = harness
    key = SampleKey(IDS[0], 0)

    def fail(*arguments: Any, **options: Any) -> Any:
        raise MachineError("no room")

    monkeypatch.setattr(ScriptedGrading, "grade", fail)
    with pytest.raises(MachineError):
        made.grade(of_it(attempt(key)))
    monkeypatch.setattr(AgentJournal, "append", fail)
    with pytest.raises(MachineError):
        made.finished(attempt(key))
    assert [str(error) for error in given_up] == ["no room", "no room"]


def test_findings_are_of_the_patch_and_what_was_written(harness: Any, runs: AgentRuns) -> None:
    """Edits of the graded tests are named, and files outside the repository."""
    made, _, _ = harness
    problem = runs.plan().selected.available[0]
    tests = GOOD.replace("a/a", "a/tests/test_x.py").replace("b/a", "b/tests/test_x.py")
    found = made.findings(problem, (), GOOD + tests, ("/etc/passwd", "/testbed/a", "/tmp/x"))
    assert [(finding.kind.value, finding.excerpt) for finding in found] == [
        ("test_edit", "tests/test_x.py"),
        ("outside_write", "/etc/passwd"),
    ]
