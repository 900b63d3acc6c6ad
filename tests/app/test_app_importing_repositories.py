"""Results of others on repository problems as runs, and Inspect logs of both kinds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from importing_pieces import imported, write

from benchwright.app.importing import Kind, detect
from benchwright.benchmarks.swebench.official import OfficialStatus, run_report
from benchwright.core.errors import UsageError
from benchwright.core.runs import Score
from benchwright.core.verdicts import Reason
from benchwright.store.folder import facts_from_lines

IDS = tuple(f"o__r-{number}" for number in range(1, 7))
STATUSES = {
    "o__r-1": OfficialStatus.RESOLVED,
    "o__r-2": OfficialStatus.UNRESOLVED,
    "o__r-3": OfficialStatus.EMPTY_PATCH,
    "o__r-4": OfficialStatus.ERROR,
}


@pytest.fixture
def ids(tmp_path: Path) -> Path:
    """A file of the benchmark's instances."""
    return write(tmp_path / "ids.json", list(IDS))


def test_a_run_report_becomes_rows(tmp_path: Path) -> None:
    """Errors count as not resolved, as officially, and are flagged; who was not submitted is missing."""
    path = write(tmp_path / "agent.run.json", run_report(IDS, STATUSES))
    with pytest.raises(UsageError, match="give --benchmark, one of"):
        imported(path)
    with pytest.raises(UsageError, match="starter is not; give --benchmark"):
        imported(path, benchmark="starter")
    report, store = imported(path, benchmark="swebench-verified")
    run, rows, files = store.added[0]
    assert (report.kind, run.model, run.flags) == (Kind.SWEBENCH_REPORT, "agent", ("source_errors",))
    assert (run.problems, run.solved, run.missing, run.faults) == (6, 1, 2, 0)
    assert {row.problem_id: (row.verdict.outcome.value, row.verdict.reason.value) for row in rows} == {
        "o__r-1": ("passed", "all_tests_passed"),
        "o__r-2": ("failed", "not_stated"),
        "o__r-3": ("no_answer", "empty"),
        "o__r-4": ("failed", "not_stated"),
        "o__r-5": ("no_answer", "missing"),
        "o__r-6": ("no_answer", "missing"),
    }
    assert all(row.verdict.scored for row in rows)
    assert "Instances that are errors in the source: 1" in report.notes[0]
    assert files[path.name] == path
    facts = facts_from_lines(bytes(files["problems.jsonl"]))  # type: ignore[arg-type]
    assert (list(facts), {one.repository for one in facts.values()}) == (list(IDS), {"o/r"})


def test_a_report_may_not_name_instances_that_the_benchmark_lacks(tmp_path: Path) -> None:
    """The benchmark's instances are those of the data, when it is given."""
    path = write(tmp_path / "agent.run.json", run_report(IDS, STATUSES))
    dataset = write(tmp_path / "rows.jsonl", b'{"instance_id": "o__r-1"}\n{"instance_id": "o__r-9"}\n')
    options = {"benchmark": "swebench-verified", "dataset": dataset}
    with pytest.raises(UsageError, match="3 problems that are not among the 2 instances of swebench-verified"):
        imported(path, **options)
    report, _ = imported(path, ignore_unknown=True, **options)
    assert (report.runs[0].problems, report.runs[0].solved, report.runs[0].missing) == (2, 1, 1)
    assert "Unknown instances of agent: 3" in report.left_out[0]


def test_reports_on_instances_say_which_tests_failed(tmp_path: Path, ids: Path) -> None:
    """A test that was to turn green, or one that was green before; tests are counted."""
    folder = tmp_path / "logs" / "o__model"
    for name, failed in (("o__r-1", "FAIL_TO_PASS"), ("o__r-2", "PASS_TO_PASS")):
        groups = {
            group: {"success": ["a"], "failure": ["b"] if group == failed else []}
            for group in ("FAIL_TO_PASS", "PASS_TO_PASS")
        }
        write(folder / name / "report.json", {name: {"resolved": False, "tests_status": groups}})
    with pytest.raises(UsageError, match="give --dataset"):
        imported(tmp_path / "logs", benchmark="swebench-lite")
    report, store = imported(tmp_path / "logs", benchmark="swebench-lite", dataset=ids, model="m")
    found = {row.problem_id: row.verdict for row in store.added[0][1]}
    assert [(found[one].reason, found[one].planned, found[one].passed) for one in IDS[:2]] == [
        (Reason.TESTS_FAILED, 3, 2),
        (Reason.REGRESSION, 3, 2),
    ]
    assert found[IDS[2]].reason is Reason.MISSING
    assert (report.runs[0].model, report.runs[0].missing) == ("m", 4)


def test_submissions_are_imported_together(tmp_path: Path, ids: Path) -> None:
    """A folder of the experiments repository: what a submission does not name counts as not resolved."""
    for name, resolved in (("20240101_one", ["o__r-1"]), ("two", ["o__r-1", "o__r-2"])):
        write(tmp_path / "verified" / name / "results" / "results.json", {"resolved": resolved})
    (tmp_path / "verified" / "two" / "metadata.yaml").write_text("name: Two & Co\n", encoding="utf-8")
    options = {"benchmark": "swebench-verified", "dataset": ids}
    report, store = imported(tmp_path / "verified", **options)
    assert report.kind is Kind.SWEBENCH_SUBMISSION
    assert [(run.model, run.solved, run.problems, run.finished) for run in report.runs] == [
        ("20240101_one", 1, 6, "2024-01-01"),
        ("two", 2, 6, ""),
    ]
    assert [run.source.title for run in report.runs if run.source] == ["20240101_one", "Two & Co"]
    assert {row.verdict.reason for row in store.added[0][1]} == {Reason.ALL_TESTS_PASSED, Reason.NOT_STATED}
    with pytest.raises(UsageError, match="results of 2 models; --model can name only one"):
        imported(tmp_path / "verified", model="m", **options)


def test_a_list_of_resolved_instances_is_stored_run_by_run(tmp_path: Path) -> None:
    """The same runs as are ranked without a store."""
    path = write(tmp_path / "resolved.json.gz", {"o__r-1": ["x", "x"], "o__r-2": ["y"]})
    report, store = imported(path, benchmark="swebench-verified", source_title="A list")
    assert report.kind is Kind.SWEBENCH_RESOLVED
    assert [(run.model, run.solved, run.problems) for run in report.runs] == [("x", 1, 2), ("y", 1, 2)]
    assert report.rows == 4
    assert [row.verdict.detail for row in store.added[0][1]] == ["listed as resolved", "not listed as resolved"]
    with pytest.raises(UsageError, match="'z' is none of them"):
        imported(path, benchmark="swebench-verified", model="z")


def log_of(path: Path, scores: Mapping[str, Any], **spec: Any) -> Path:
    """An Inspect log with one sample for each score."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
    from inspect_ai.scorer import Score as InspectScore

    samples = [
        EvalSample(
            id=name, epoch=1, input="x", target="", scores=None if value is None else {"s": InspectScore(value=value)}
        )
        for name, value in scores.items()
    ]
    asked = spec.pop("asked", list(scores))
    status = spec.pop("status", "success")
    header = EvalSpec(
        created="2025-01-01T00:00:00+00:00",
        task="a_task",
        dataset=EvalDataset(sample_ids=asked),
        model="provider/m",
        config=EvalConfig(epochs=1),
        **spec,
    )
    write_eval_log(EvalLog(eval=header, status=status, samples=samples), str(path))
    return path


def test_an_inspect_log_of_functions(tmp_path: Path) -> None:
    """Score and variant are told by the user; samples without a score are faults; who has no sample is missing."""
    log = log_of(tmp_path / "run.eval", {"BigCodeBench/0": "C", "1": "I", "2": None}, asked=["BigCodeBench/0", 1, 2, 3])
    assert detect(log) is Kind.INSPECT_LOG
    with pytest.raises(UsageError, match="say --score calibrated or --score extracted"):
        imported(log)
    with pytest.raises(UsageError, match="give --variant"):
        imported(log, score=Score.EXTRACTED)
    report, store = imported(log, score=Score.EXTRACTED, variant="complete")
    run, rows, files = store.added[0]
    assert (run.subset, run.problems, run.solved, run.faults, run.missing) == ("full", 4, 1, 1, 1)
    assert {row.problem_id: row.verdict.outcome.value for row in rows} == {
        "BigCodeBench/0": "passed",
        "BigCodeBench/1": "failed",
        "BigCodeBench/2": "fault",
        "BigCodeBench/3": "no_answer",
    }
    assert (run.model, run.scaffold, files) == ("provider/m", "", {})
    assert run.manifest["inspect"]["task"] == "a_task"
    assert any("Samples without a score, not counted, as in the source: 1" in note for note in report.notes)


def test_an_inspect_log_of_patches(tmp_path: Path, ids: Path) -> None:
    """The benchmark is told; the solver is the scaffold; a run that did not end well is flagged."""
    log = log_of(tmp_path / "run.eval", {"o__r-1": 1, "o__r-2": 0}, solver="an_agent", status="cancelled")
    report, _ = imported(log, benchmark="swebench-verified", dataset=ids)
    run = report.runs[0]
    assert (run.scaffold, run.flags, run.scores) == ("an_agent", ("source_unfinished",), (Score.PATCH,))
    assert (run.problems, run.solved) == (2, 1)
    with pytest.raises(UsageError, match="leave --score extracted out"):
        imported(log, benchmark="swebench-verified", score=Score.EXTRACTED)
    stranger = log_of(tmp_path / "other.eval", {"o__r-1": 1, "o__r-77": 0})
    with pytest.raises(UsageError, match=r"1 problems that are not among .* \(o__r-77\)"):
        imported(stranger, benchmark="swebench-verified", dataset=ids)
