"""Results of others become runs of the store: marked as imports, with their source, whole or not at all."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from importing_pieces import LEADERBOARD, NAME, FakeStore, imported, real_data, verdicts, write

from benchwright.app.importing import Kind, detect, import_results
from benchwright.app.importing_base import ImportedRun, ImportOptions
from benchwright.benchmarks.bigcodebench.pins import hard_ids
from benchwright.core.errors import UsageError
from benchwright.core.results import Origin, ReportedScore, StoredRun, Tally
from benchwright.core.runs import Score
from benchwright.store.results import ResultStore


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.json", {"a": 1}, "none of the forms that are imported"),
        ("x.json", 3, "none of the forms"),
        ("x.json", b"{", "is not JSON"),
        ("x.json", b"\xff", "not UTF-8"),
        ("x.json", b"[" * 100_000, "not usable JSON"),
        ("x.jsonl", b"{}", "graded and not imported: bw grade"),
        ("x.jsonl", {"task_id": "a", "solution": "b", "test": "c"}, "graded and not imported: bw grade"),
        ("x.jsonl", {"task_id": "a", "canonical_solution": "b", "test": "c"}, "holds the rows of a benchmark"),
        ("x.jsonl", {"instance_id": "a", "FAIL_TO_PASS": "[]"}, "holds the rows of a benchmark.* --dataset"),
        ("folder/x.json", {}, "The folder .* holds nothing that is imported"),
    ],
)
def test_other_places_are_refused_in_one_sentence(tmp_path: Path, name: str, content: Any, message: str) -> None:
    """What is neither results nor readable is told apart from what has to be graded."""
    path = write(tmp_path / name, content)
    with pytest.raises(UsageError, match=message):
        detect(path.parent if "/" in name else path)
    with pytest.raises(UsageError, match="There is no file"):
        detect(tmp_path / "none")


def test_a_folder_of_verdict_files_is_imported(tmp_path: Path) -> None:
    """One run of each file below it, by the model that its folder is called after; a subset may be chosen."""
    for model in ("birch", "alder"):
        for subset in ("hard", "full"):
            write(tmp_path / f"samples/{model}/{subset}-complete.official_verdicts.json", verdicts("BigCodeBench/13"))
    options = ImportOptions(score=Score.CALIBRATED)
    assert detect(tmp_path / "samples") is Kind.BIGCODEBENCH_VERDICTS
    with ResultStore(tmp_path / "store") as store:
        done = import_results(tmp_path / "samples", store, options)
        assert {(run.model, run.subset) for run in store.runs()} == {
            ("alder", "full"), ("alder", "hard"), ("birch", "full"), ("birch", "hard"),
        }  # fmt: skip
        assert len(done.runs) == 4
    done = import_results(tmp_path / "samples", None, dataclasses.replace(options, subset="hard"), dry_run=True)
    assert [run.model for run in done.runs] == ["alder", "birch"]
    assert "2 verdict files of other subsets or variants are not looked at." in done.notes


def test_a_form_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    """The known ones are named; one that is named is read as such."""
    path = write(tmp_path / "leaderboard-full.json", LEADERBOARD)
    with pytest.raises(UsageError, match="no form of results named 'x'; known: bigcodebench-verdicts"):
        import_results(path, None, kind="x")
    with pytest.raises(UsageError, match="no official result file"):
        import_results(path, None, kind="bigcodebench-verdicts")


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    """It says what would be made."""
    store = FakeStore()
    report = import_results(write(tmp_path / "leaderboard-full.json", LEADERBOARD), store, dry_run=True)
    assert (store.added, report.stored, len(report.runs)) == ([], False, 3)
    assert report.to_plain()["runs"][0]["entry"] is None


def test_nothing_is_stored_of_a_source_that_is_wrong_in_one_place(tmp_path: Path) -> None:
    """Everything is read before anything is written."""
    bad = {**LEADERBOARD, "c": {"pass@1": {"complete": 900}}}
    store = FakeStore()
    with pytest.raises(UsageError, match="up to 100"):
        import_results(write(tmp_path / "leaderboard-full.json", bad), store)
    assert store.added == []


def test_a_run_without_rows_cannot_be_ranked() -> None:
    """Numbers alone are no verdicts."""
    run = StoredRun(
        entry="", run_id="r", origin=Origin.IMPORTED, benchmark="b", version="", subset="", variant="", model="m"
    )
    with pytest.raises(UsageError, match="m: the source states scores only"):
        ImportedRun(run=run).scored  # noqa: B018 the property raises


def test_the_store_takes_every_form(tmp_path: Path) -> None:
    """Imported again nothing changes; a newer state of the same source replaces the older."""
    board = write(tmp_path / "leaderboard-full.json", LEADERBOARD)
    path = write(tmp_path / f"{NAME}_eval_results.json", verdicts(*hard_ids()))
    with ResultStore(tmp_path / "store") as store:
        first = import_results(board, store)
        assert import_results(board, store).runs == first.runs
        report = import_results(path, store)
        assert report.to_plain()["runs"][0]["entry"] == report.runs[0].entry != ""
        scored = store.scored([report.runs[0]])[0]
        assert len(scored.tallies) == 148
        assert set(scored.tallies.values()) == {Tally(scored=1, passed=1)}
        write(board, {"a": {"pass@1": {"complete": 62.0, "instruct": 51.1}}})
        import_results(board, store)
        (now,) = store.runs(model="a", variant="complete")
        assert now.reported == (ReportedScore(metric="pass@1", value=0.62),)
        assert now.supersedes == first.runs[0].entry
        assert json.loads(store.read_file(now.entry, board.name))["a"]["pass@1"]["complete"] == 62.0


def test_the_real_leaderboards_and_lists() -> None:
    """GPT-4o (2024-05-13) at 61.1 Complete and 51.1 Instruct; the lists' known counts on Verified."""
    report, _ = imported(real_data() / "bigcodebench" / "leaderboard-full.json")
    gpt = {run.variant: run.reported[0].value for run in report.runs if run.model == "GPT-4o-2024-05-13"}
    assert gpt == {"complete": 0.611, "instruct": 0.511}
    assert len({run.model for run in report.runs}) == 202 - 46  # 46 have no score on the full set
    hard, _ = imported(real_data() / "bigcodebench" / "leaderboard-hard.json")
    assert len({run.model for run in hard.runs}) == 202
    swebench = real_data() / "swebench"
    report, _ = imported(
        swebench / "resolved_submissions.json.gz",
        benchmark="swebench-verified",
        dataset=swebench / "verified_500_statements.jsonl.gz",
    )
    solved = {run.model: (run.solved, run.problems) for run in report.runs}
    assert len(solved) == 99
    assert solved["20250110_blackboxai_agent_v1.1"] == (314, 500)
    assert solved["20241029_OpenHands-CodeAct-2.1-sonnet-20241022"] == (265, 500)
