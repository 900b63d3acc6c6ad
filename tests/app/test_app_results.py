"""Judging again and comparing gradings."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, ScriptedFactory, first_ids, references, run_grading, write_samples

from benchwright.app.controls import CheckOptions, check_benchmark
from benchwright.app.grading import GradeReport
from benchwright.app.results import diff, regrade
from benchwright.app.workspace import Workspace
from benchwright.core.errors import UsageError
from benchwright.core.execution import ExecutionRecord, Job, TestOutcome, TestPlan
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.judging import function
from benchwright.store.folder import ResultsFolder
from benchwright.testing import finished_record


@pytest.fixture
def graded(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> GradeReport:
    """A grading in which everything passed, except that one problem is missing."""
    samples = write_samples(tmp_path / "samples.jsonl", references(3))
    return run_grading(home, samples, tmp_path / "a", ids=first_ids(4))


def harsher(plan: TestPlan, record: ExecutionRecord, unavailable: frozenset[str] = frozenset()) -> Verdict:
    """A judge of the next version, who passes nothing of the first problem."""
    verdict = dataclasses.replace(function.judge(plan, record, unavailable), judge_version=99)
    if plan.tests == PLAN_OF_FIRST and verdict.outcome is Outcome.PASSED:
        return dataclasses.replace(verdict, outcome=Outcome.FAILED, reason=Reason.TAMPERED)
    return verdict


PLAN_OF_FIRST: tuple[object, ...] = ()


@pytest.fixture
def new_judge(graded: GradeReport, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next version of the judge is installed."""
    plans = ResultsFolder(graded.folder).plans()
    monkeypatch.setitem(globals(), "PLAN_OF_FIRST", plans[PROBLEMS[0].id].tests)
    monkeypatch.setattr("benchwright.app.results.judge", harsher)
    monkeypatch.setattr("benchwright.app.results.JUDGE_VERSION", 99)


def test_the_same_judge_changes_nothing(graded: GradeReport, home: Path) -> None:
    """Regrading judges every record again, executes nothing and leaves the files alone."""
    before = {path.name: path.read_bytes() for path in graded.folder.iterdir()}
    report = regrade(graded.folder, Workspace(home=home))
    assert (report.rows, report.judged, report.without_record, report.changes) == (8, 6, 0, ())
    assert {path.name: path.read_bytes() for path in graded.folder.iterdir()} == before


@pytest.mark.usefixtures("new_judge")
def test_another_judge_changes_rows_and_keeps_the_old(graded: GradeReport, home: Path) -> None:
    """Changed verdicts are named, rows and numbers written anew, the earlier rows kept beside them."""
    report = regrade(graded.folder, Workspace(home=home))
    assert [(c.problem_id, c.before, c.after) for c in report.changes] == [
        (PROBLEMS[0].id, "passed (all_tests_passed)", "failed (tampered)")
    ] * 2
    folder = ResultsFolder(graded.folder)
    assert sum(row.verdict.outcome is Outcome.PASSED for row in folder.rows()) == 4
    manifest = folder.manifest()
    assert manifest["judge_version"] == 99
    assert manifest["estimates"]["pass@1"]["value"] == pytest.approx(2 / 4)
    assert manifest["run_id"] == graded.run_id
    kept = (graded.folder / "rows.before-regrade.jsonl").read_text().splitlines()
    assert sum(json.loads(line)["outcome"] == "passed" for line in kept) == 6
    assert regrade(graded.folder, Workspace(home=home)).changes == ()


def test_rows_without_a_record_keep_their_verdict(graded: GradeReport, tmp_path: Path) -> None:
    """A folder from elsewhere can be regraded as far as its records are here; the rest is counted."""
    report = regrade(graded.folder, Workspace(home=tmp_path / "elsewhere"))
    assert (report.judged, report.without_record, report.changes) == (0, 6, ())


def test_an_edited_row_is_put_right(graded: GradeReport, home: Path) -> None:
    """A verdict that does not follow from its record does not survive regrading."""
    rows = graded.folder / "rows.jsonl"
    rows.write_text(
        rows.read_text().replace('"passed", "reason": "all_tests_passed"', '"failed", "reason": "crashed"', 1)
    )
    (change,) = regrade(graded.folder, Workspace(home=home)).changes
    assert (change.before, change.after) == ("failed (crashed)", "passed (all_tests_passed)")


def test_regrading_needs_a_grading(home: Path, tmp_path: Path) -> None:
    """An empty folder, or one whose grading never ended, is named."""
    with pytest.raises(UsageError, match=r"holds no manifest\.json"):
        regrade(tmp_path, Workspace(home=home))
    ResultsFolder(tmp_path).write_manifest({"environment": "starter"})
    with pytest.raises(UsageError, match="is not finished"):
        regrade(tmp_path, Workspace(home=home))


def test_regrading_waits_for_no_grading(graded: GradeReport, home: Path) -> None:
    """A folder that a grading writes into is refused."""
    with ResultsFolder(graded.folder).locked(), pytest.raises(UsageError, match="Another grading"):
        regrade(graded.folder, Workspace(home=home))


def compare(home: Path, a: GradeReport, b: GradeReport) -> Any:
    """The difference between two gradings."""
    return diff(a.folder, b.folder, Workspace(home=home))


def test_a_grading_does_not_differ_from_itself(graded: GradeReport, home: Path) -> None:
    """Nothing differs, and everything was compared."""
    report = compare(home, graded, graded)
    assert (report.settings, report.compared, report.changes, report.only_a, report.only_b) == ((), 8, (), 0, 0)


def test_other_answers_are_named_as_the_reason(
    graded: GradeReport, scripted: ScriptedFactory, home: Path, tmp_path: Path
) -> None:
    """A verdict that changed because the answer did says so, with what each side showed."""
    answers = [(PROBLEMS[0].id, "def task_func():\n    return 0\n"), *references(3)[1:]]
    scripted.script = lambda job: finished_record(job, {job.plan.tests[0].id: TestOutcome.FAILED})
    other = run_grading(home, write_samples(tmp_path / "b.jsonl", answers, model="m"), tmp_path / "b", ids=first_ids(3))
    report = compare(home, graded, other)
    assert {name for name, _, _ in report.settings} == {"samples_digest", "model"}
    assert {(c.problem_id, c.before) for c in report.changes} == {(PROBLEMS[0].id, "passed (all_tests_passed)")}
    assert all("the answers may differ" in c.explanation for c in report.changes)
    assert all("AssertionError: as scripted" in c.explanation for c in report.changes)
    assert (report.compared, report.only_a, report.only_b) == (6, 2, 0)
    plain = report.to_plain()
    assert json.loads(json.dumps(plain)) == plain


def test_measured_limits_are_named_as_the_reason(
    graded: GradeReport, scripted: ScriptedFactory, home: Path, tmp_path: Path
) -> None:
    """The same command after control runs has other limits: the explanation says so, and how the run ended."""
    options = CheckOptions(benchmark="starter", workers=1, ids=first_ids(1))
    check_benchmark(options, Workspace(home=home), lambda done, total: None)
    scripted.script = lambda job: ExecutionRecord.from_plain(
        {**finished_record(job).to_plain(), "exit_cause": "cpu_time"}
    )
    other = run_grading(home, tmp_path / "samples.jsonl", tmp_path / "b", ids=first_ids(4))
    report = compare(home, graded, other)
    assert report.settings == ()
    assert {change.after for change in report.changes} == {"over_limit (cpu_time)"}
    assert all("the limits differ, exit finished became cpu_time" in change.explanation for change in report.changes)


def test_a_job_that_came_out_differently_is_named(
    graded: GradeReport, scripted: ScriptedFactory, home: Path, tmp_path: Path
) -> None:
    """The very same job executed twice with different results is flakiness, and is called that."""

    def slow(job: Job) -> ExecutionRecord:
        return ExecutionRecord.from_plain({**finished_record(job).to_plain(), "exit_cause": "wall_time"})

    scripted.script = slow
    with Workspace(home=home).records() as store:
        store._connection.execute("DELETE FROM records WHERE digest = ?", (graded.rows[0].job_digest,))
    samples = tmp_path / "samples.jsonl"
    other = run_grading(home, samples, tmp_path / "b", ids=first_ids(4), model="another")
    report = compare(home, graded, other)
    assert [name for name, _, _ in report.settings] == ["model"]
    (change,) = report.changes
    assert change.after == "over_limit (wall_time)"
    assert "executed twice with different results" in change.explanation


def test_a_new_judge_is_named_as_the_reason(graded: GradeReport, home: Path, tmp_path: Path, request: Any) -> None:
    """Regraded against not regraded: the same record, another judge."""
    shutil.copytree(graded.folder, tmp_path / "copy")
    request.getfixturevalue("new_judge")
    regrade(graded.folder, Workspace(home=home))
    report = diff(tmp_path / "copy", graded.folder, Workspace(home=home))
    assert [name for name, _, _ in report.settings] == ["judge_version"]
    assert {change.explanation for change in report.changes} == {"same record, another judge version"}


def test_answers_that_never_ran_are_explained_too(
    graded: GradeReport, scripted: ScriptedFactory, home: Path, tmp_path: Path
) -> None:
    """An empty answer against a right one is explained by what was found."""
    answers = [(PROBLEMS[0].id, ""), *references(3)[1:]]
    other = run_grading(home, write_samples(tmp_path / "b.jsonl", answers), tmp_path / "b", ids=first_ids(4))
    assert {c.explanation for c in compare(home, graded, other).changes} == {
        f"A: {graded.rows[0].verdict.detail}; B: the answer is empty"
    }


def test_comparing_needs_two_gradings(graded: GradeReport, home: Path, tmp_path: Path) -> None:
    """A folder without a grading is named."""
    with pytest.raises(UsageError, match="nothing here"):
        diff(graded.folder, tmp_path / "nothing here", Workspace(home=home))
