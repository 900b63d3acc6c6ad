"""Control runs as a use case: stored, reused, and used by gradings."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, ScriptedFactory, first_ids, references, run_grading, write_samples

from benchwright.app.controls import CheckOptions, CheckReport, check_benchmark
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.starter.source import read_rows
from benchwright.core.errors import UsageError
from benchwright.core.execution import ExecutionRecord, Job, TestOutcome
from benchwright.testing import finished_record, lost_record


def honest(job: Job) -> ExecutionRecord:
    """References pass in two seconds, empty stubs fail."""
    if job.submission.code.rstrip().endswith("pass"):
        return finished_record(job, {job.plan.tests[0].id: TestOutcome.FAILED})
    return finished_record(job, wall_seconds=50.0, cpu_seconds=20.0)


def check(home: Path, **options: Any) -> CheckReport:
    """Control the first three starter problems."""
    values: dict[str, Any] = {"benchmark": "starter", "workers": 1, "ids": first_ids(3), **options}
    return check_benchmark(CheckOptions(**values), Workspace(home=home), lambda done, total: None)


@pytest.mark.namespaces
def test_references_pass_and_stubs_fail_for_real(home: Path) -> None:
    """Real control runs of three built-in problems, offline, with times and memory."""
    report = check(home)
    assert report.executed == 3
    assert all(control.reference_passes and not control.stub_passes for control in report.controls)
    assert all(control.wall_seconds > 0 and control.memory_peak_bytes > 0 for control in report.controls)


def test_control_runs_are_stored_and_not_repeated(scripted: ScriptedFactory, home: Path) -> None:
    """A second check executes nothing; `again` and more repeats do."""
    scripted.script = honest
    assert (check(home).executed, len(scripted.ran)) == (3, 6)
    assert (check(home).executed, len(scripted.ran)) == (0, 6)
    assert (check(home, again=True).executed, len(scripted.ran)) == (3, 12)
    assert (check(home, repeats=2).executed, len(scripted.ran)) == (3, 24)
    assert (check(home, repeats=2).executed, len(scripted.ran)) == (0, 24)
    assert (check(home, ids=first_ids(4)).executed, len(scripted.ran)) == (1, 26)


def test_an_interrupted_check_keeps_what_was_done(scripted: ScriptedFactory, home: Path) -> None:
    """Each control run is stored when it is complete."""

    def script(job: Job) -> ExecutionRecord:
        if len(scripted.ran) == 5:
            raise KeyboardInterrupt
        return honest(job)

    scripted.script = script
    with pytest.raises(KeyboardInterrupt):
        check(home)
    scripted.script = honest
    assert check(home).executed == 1


def test_a_lost_control_run_is_not_kept(scripted: ScriptedFactory, home: Path) -> None:
    """A broken sandbox says nothing of the problem; a later check tries again."""
    scripted.script = lost_record
    assert [control.available for control in check(home).controls] == [False] * 3
    scripted.script = honest
    report = check(home)
    assert report.executed == 3
    assert all(control.reference_passes for control in report.controls)


@pytest.mark.parametrize(
    ("script", "field"),
    [
        (lambda job: finished_record(job, {job.plan.tests[0].id: TestOutcome.ERROR}), "failed_references"),
        (finished_record, "passing_stubs"),
    ],
)
def test_what_is_wrong_is_listed(
    scripted: ScriptedFactory, home: Path, script: Callable[[Job], ExecutionRecord], field: str
) -> None:
    """Failing references and passing stubs are named, also in the plain form."""
    scripted.script = script
    report = check(home)
    assert len(getattr(report, field)) == 3
    plain = report.to_plain()
    assert len(plain[field]) == 3
    assert json.loads(json.dumps(plain)) == plain
    assert plain["reference_passes"] == (0 if field == "failed_references" else 3)


def test_an_unavailable_library_is_told_apart(scripted: ScriptedFactory, home: Path) -> None:
    """A reference that fails for a library this environment lacks is unavailable, not failing."""
    try:
        module = min(Workspace(home=home).target("bigcodebench-light").unavailable_modules)
    except UsageError as error:
        pytest.skip(str(error))

    def script(job: Job) -> ExecutionRecord:
        plain = finished_record(job, {job.plan.tests[0].id: TestOutcome.ERROR}).to_plain()
        return ExecutionRecord.from_plain({**plain, "missing_modules": [module]})

    scripted.script = script
    report = check(home, environment="bigcodebench-light")
    assert (len(report.unavailable), report.failed_references) == (3, ())
    assert f"no {module}" in report.to_plain()["unavailable"][0]["detail"]


def test_gradings_take_their_limits_from_control_runs(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> None:
    """Before the control runs the official limits hold, afterwards those measured."""
    samples = write_samples(tmp_path / "samples.jsonl", references(3))
    before = run_grading(home, samples, tmp_path / "before", ids=first_ids(3))
    assert {job.limits.wall_seconds for job in scripted.ran} == {240.0}
    assert before.summary.uncontrolled == 3
    scripted.script = honest
    check(home)
    scripted.ran.clear()
    after = run_grading(home, samples, tmp_path / "after", ids=first_ids(3))
    assert {job.limits.cpu_seconds for job in scripted.ran} == {120.0}
    assert (after.summary.uncontrolled, after.summary.failed_references) == (0, ())
    assert after.summary.estimates_controlled == ()


def test_a_failing_reference_gives_a_second_number(scripted: ScriptedFactory, home: Path, tmp_path: Path) -> None:
    """The score is given with and without problems whose reference fails here."""
    broken = PROBLEMS[0].reference
    scripted.script = lambda job: (
        finished_record(job, {job.plan.tests[0].id: TestOutcome.ERROR})
        if job.submission.code == broken
        else honest(job)
    )
    check(home)
    samples = write_samples(tmp_path / "samples.jsonl", references(3))
    report = run_grading(home, samples, tmp_path / "out", ids=first_ids(3))
    assert report.summary.failed_references == (PROBLEMS[0].id,)
    assert [(e.value, e.n) for e in report.summary.estimates] == [(pytest.approx(2 / 3), 3)] * 2
    assert [(e.value, e.n) for e in report.summary.estimates_controlled] == [(1.0, 2)] * 2
    rates = json.loads((tmp_path / "out" / "calibrated_pass_at_k.json").read_text())
    assert rates["failed_tasks"] == [PROBLEMS[0].id]
    assert rates["gt_pass_rate"] == pytest.approx(2 / 3)


def test_control_runs_belong_to_the_row_they_were_made_with(
    scripted: ScriptedFactory, home: Path, tmp_path: Path
) -> None:
    """Changed data is another problem, whatever its id, and is controlled anew."""
    scripted.script = honest
    check(home)
    rows = list(read_rows())[:3]
    rows[0]["test"] += "\n# changed\n"
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert check(home, data=data).executed == 1


def test_repeats_have_to_be_at_least_one(home: Path) -> None:
    """Zero repeats are misuse."""
    with pytest.raises(UsageError, match="at least 1, not 0"):
        check(home, repeats=0)
