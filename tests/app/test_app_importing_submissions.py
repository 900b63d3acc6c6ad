"""Lists of resolved instances as runs to rank: marked as imports, with their source."""

import json
from pathlib import Path

import pytest

from benchwright.app.importing_base import ImportOptions
from benchwright.app.importing_submissions import import_resolved, resolved_runs
from benchwright.benchmarks.swebench.submissions import Attempted
from benchwright.core.digest import digest_of_bytes
from benchwright.core.errors import UsageError
from benchwright.core.results import Origin
from benchwright.core.runs import Score

LIST = {
    "i-1": ["20240523_one", "two"],
    "i-2": ["20240523_one"],
    "i-3": ["20240523_one", "20240523_one", "20249999_no-day"],
    "o-1": ["20240523_one", "20249999_no-day"],
}
IDS = ["i-1", "i-2", "i-3"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A small list of two splits that share i-3."""
    path = tmp_path / "resolved.json"
    path.write_text(json.dumps(LIST), encoding="utf-8")
    return path


def test_each_submission_is_an_imported_run_with_its_source(path: Path) -> None:
    """Name, source, file and digest are those of the list; every instance has a tally."""
    found = resolved_runs(path, benchmark="swebench-verified", problem_ids=IDS, source_url="https://example.org")
    one, no_day, two = found.runs
    assert [run.run.model for run in found.runs] == ["20240523_one", "20249999_no-day", "two"]
    assert one.run.origin is Origin.IMPORTED
    assert one.run.source is not None
    assert one.run.source.files == (("resolved.json", digest_of_bytes(path.read_bytes())),)
    assert one.run.source.url == "https://example.org"
    assert "not what it tried" in one.run.source.note
    assert (one.score, one.run.scores, one.run.variant) == (Score.PATCH, (Score.PATCH,), "patch")
    assert (one.run.solved, one.run.problems, one.run.finished) == (3, 3, "2024-05-23")
    assert (two.run.solved, {key: tally.passed for key, tally in two.tallies.items()}) == (
        1,
        {"i-1": 1, "i-2": 0, "i-3": 0},
    )
    assert all(tally.scored == 1 for run in found.runs for tally in run.tallies.values())
    assert no_day.run.finished == ""
    assert len({run.run.entry for run in found.runs}) == 3


def test_without_ids_the_first_note_says_what_is_taken(path: Path) -> None:
    """All that the list names, beside how many the benchmark has, and what to do; the source keeps that note."""
    found = resolved_runs(path, benchmark="swebench-verified")
    said = (
        "Nothing said which instances are the benchmark's, so all 4 that resolved.json names are taken, though "
        "swebench-verified has 500; give --dataset FILE with the benchmark's rows, or a list of ids."
    )
    assert found.notes[0] == said
    imported = import_resolved(path, ImportOptions(benchmark="swebench-verified"))
    assert imported.notes[0] == said
    assert imported.runs[0].run.source is not None
    assert imported.runs[0].run.source.note.startswith(said)
    assert "has" not in resolved_runs(path, benchmark="mine").notes[0]


def test_a_partial_submission_is_flagged_and_may_be_judged_on_the_overlap(path: Path) -> None:
    """It stays in the list either way; with ``overlap`` the rest was not played."""
    every = resolved_runs(path, benchmark="swebench-verified", problem_ids=IDS).runs[1]
    some = resolved_runs(path, benchmark="swebench-verified", problem_ids=IDS, attempted=Attempted.OVERLAP).runs[1]
    assert every.run.flags == some.run.flags == ("partial?",)
    assert (len(every.tallies), set(some.tallies)) == (3, {"i-3"})
    assert every.run.entry != some.run.entry


def test_the_instances_may_come_from_a_file(path: Path, tmp_path: Path) -> None:
    """Rows that have nothing but ids are enough."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"instance_id": one}) + "\n" for one in IDS), encoding="utf-8")
    found = resolved_runs(path, benchmark="swebench-verified", dataset=rows)
    assert found.resolved.problem_ids == tuple(IDS)
    with pytest.raises(UsageError, match="There is no file"):
        resolved_runs(path, benchmark="swebench-verified", dataset=tmp_path / "none.jsonl")
