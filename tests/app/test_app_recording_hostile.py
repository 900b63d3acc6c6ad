"""Results folders that somebody hands over are read for what their rows say, and told apart from own gradings."""

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, ScriptedFactory, references, run_grading, write_samples

from benchwright.app.recording import kept_files, record, record_into, stored_run_of, take_folder
from benchwright.app.stored_results import choose
from benchwright.core.errors import UsageError
from benchwright.core.verdicts import Outcome, Reason
from benchwright.store.folder import PROBLEMS as PROBLEMS_FILE
from benchwright.store.folder import ResultsFolder
from benchwright.store.results import ResultStore


@pytest.fixture
def graded(home: Path, scripted: ScriptedFactory, tmp_path: Path) -> ResultsFolder:
    """Three graded references of model ``m``."""
    samples = write_samples(tmp_path / "in.jsonl", references(3))
    ids = tuple(problem.id for problem in PROBLEMS[:3])
    return ResultsFolder(run_grading(home, samples, tmp_path / "out", ids=ids, model="m").folder)


def changed(graded: ResultsFolder, path: Path, **manifest: Any) -> ResultsFolder:
    """A copy of a folder, with other things in its manifest."""
    shutil.copytree(graded.path, path)
    (path / "manifest.json").write_text(json.dumps({**graded.manifest(), **manifest}))
    return ResultsFolder(path)


def worse(graded: ResultsFolder, path: Path) -> ResultsFolder:
    """A copy of a folder in which the first problem failed."""
    copy = changed(graded, path)
    rows = list(graded.rows())
    failed = dataclasses.replace(rows[0].verdict, outcome=Outcome.FAILED, reason=Reason.TAMPERED, passed=0)
    copy.write_rows(
        dataclasses.replace(row, verdict=failed) if row.problem_id == rows[0].problem_id else row for row in rows
    )
    return copy


def test_counts_and_tampering_are_those_of_the_rows(graded: ResultsFolder, tmp_path: Path) -> None:
    """A manifest that says nothing of tampering, or more problems solved, changes nothing."""
    copy = worse(graded, tmp_path / "worse")
    copy.write_manifest({**copy.manifest(), "tampered": [], "solved": 99, "faults": 7, "problems": 1000})
    run = stored_run_of(copy)
    assert (run.flags, run.solved, run.problems, run.faults) == (("tampered",), 2, 3, 0)


def test_a_folder_that_is_handed_over_is_told_apart(graded: ResultsFolder, tmp_path: Path) -> None:
    """It is flagged; taken in again, or recorded before, it is the entry that is there."""
    with ResultStore(tmp_path / "one") as store:
        taken = take_folder(store, graded)
        assert taken.flags == ("from_folder",)
        assert take_folder(store, graded).entry == taken.entry
        own = record_into(store, graded)
        assert (own.flags, own.supersedes, [one.entry for one in store.runs()]) == ((), taken.entry, [own.entry])
    with ResultStore(tmp_path / "two") as store:
        own = record_into(store, graded)
        assert take_folder(store, graded).entry == own.entry
        assert len(store.runs(superseded=True)) == 1


def test_a_folder_that_is_handed_over_replaces_no_own_run(graded: ResultsFolder, tmp_path: Path) -> None:
    """Other verdicts of the same run stay beside it, until they are to take over."""
    copy = worse(graded, tmp_path / "worse")
    with ResultStore(tmp_path / "store") as store:
        own = record_into(store, graded)
        beside = take_folder(store, copy)
        assert [one.entry for one in store.runs()] == [own.entry]
        assert [one.entry for one in store.beside([beside.entry])] == [beside.entry]
        assert store.run(beside.entry).flags == ("tampered", "from_folder", "taken_in")
        over = take_folder(store, copy, take_over=True)
        assert [one.entry for one in store.runs()] == [over.entry]


@pytest.mark.parametrize(
    "manifest",
    [
        {"model": 5}, {"model": {}}, {"version": 5}, {"cost": "x"}, {"cost": -1}, {"cost": float("nan")},
        {"flags": [{}]}, {"flags": "bundle"}, {"evaluation": [1]}, {"finished": {}}, {"scaffold": None},
        {"subset": []}, {"data_digest": 5}, {"scores": ["calibrated", "calibrated"]}, {"model": "x" * 20_001},
    ],
)  # fmt: skip
def test_a_manifest_of_other_things_is_one_sentence(
    graded: ResultsFolder, tmp_path: Path, manifest: dict[str, Any]
) -> None:
    """It is not recorded, and not read as a run either."""
    copy = changed(graded, tmp_path / "odd", **manifest)
    with pytest.raises(UsageError, match=r"manifest\.json does not say what a manifest says"):
        record(copy, tmp_path / "store")


@pytest.mark.parametrize("line", ["[", "[]", "{}", '{"id": 5}', '{"id": "x", "domains": "abc"}', "[" * 100_000])
def test_broken_facts_of_problems_are_one_sentence(graded: ResultsFolder, tmp_path: Path, line: str) -> None:
    """They are found before anything is recorded, and by whoever reads the folder without recording it."""
    (graded.path / PROBLEMS_FILE).write_text(f"{line}\n")
    with pytest.raises(UsageError, match=r"problems\.jsonl cannot be read .line 1 says nothing of a problem"):
        record(graded, tmp_path / "store")
    with ResultStore(tmp_path / "store") as store:
        assert store.runs() == []
        (lent,) = choose([str(graded.path)], store)
        with pytest.raises(UsageError, match=r"problems\.jsonl of m cannot be read"):
            store.problem_facts(lent.entry)


def test_a_file_that_went_away_is_one_sentence(graded: ResultsFolder, tmp_path: Path) -> None:
    """Whoever reads a folder that is not recorded is told which file is missing."""
    with ResultStore(tmp_path / "store") as store:
        lent = store.borrow(stored_run_of(graded), list(graded.rows()), kept_files(graded, graded.manifest()))
        (graded.path / PROBLEMS_FILE).unlink()
        with pytest.raises(UsageError, match=r"problems\.jsonl of m cannot be read .No such file"):
            store.problem_facts(lent.entry)


@pytest.mark.parametrize(
    "change",
    [
        {"problem_id": 5}, {"sample": -1}, {"sample": 2**31}, {"sample": "0"}, {"detail": None}, {"notes": [5]},
        {"wall_seconds": float("nan")}, {"cpu_seconds": -1}, {"judge_version": {}}, {"job": 5}, {"strategy": []},
        {"tests": {"planned": None, "passed": 1}}, {"memory_peak_bytes": "x"},
        {"memory_peak_bytes": 2**64}, {"sample": True}, {"cpu_seconds": False}, {"wall_seconds": 10**400},
    ],
)  # fmt: skip
def test_a_row_of_other_things_is_one_sentence(graded: ResultsFolder, tmp_path: Path, change: dict[str, Any]) -> None:
    """The line is named, and nothing recorded."""
    lines = graded.rows_path.read_text().splitlines()
    graded.rows_path.write_text("\n".join([lines[0], json.dumps(json.loads(lines[1]) | change), *lines[2:]]))
    with pytest.raises(UsageError, match=r"rows\.jsonl, line 2 is not a result row"):
        record(graded, tmp_path / "store")
