"""Damage in a store is named and stays where it is; what nobody needs is cleared away, and nothing else."""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from entry_pieces import TWO, rows_of, run

from benchwright.core.errors import UsageError
from benchwright.core.verdicts import Outcome
from benchwright.store.durable import Stage
from benchwright.store.results import ResultStore

BETTER = rows_of([Outcome.PASSED, Outcome.PASSED])


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, str, str]:
    """A store with two runs: its folder, an entry that tests damage, and one that they do not."""
    with ResultStore(tmp_path / "s") as store:
        harmed = store.add(run("r1", "harmed"), TWO, {"plans.json": b"{}", "own.json": b"harmed"})
        other = store.add(run("r2", "other"), TWO, {"plans.json": b"{}"})
    return tmp_path / "s", harmed.entry, other.entry


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def half(path: Path) -> None:
    """Keep the first half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def blob(root: Path, entry: str, name: str) -> Path:
    """Where a content of an entry is."""
    with ResultStore(root, read_only=True) as store:
        return store.layout.blob(store.run(entry).files[name])


@pytest.mark.parametrize("harm", [flip, half, Path.unlink])
@pytest.mark.parametrize("what", ["rows.parquet", "own.json", "entry.json"])
def test_damage_is_named_and_other_runs_stay_usable(
    two: tuple[Path, str, str], what: str, harm: Callable[[Path], None]
) -> None:
    """Verification has one sentence with the run and the file; the other run is listed and read as before."""
    root, harmed, other = two
    path = blob(root, harmed, what) if what == "own.json" else root / "runs" / harmed / what
    harm(path)
    with ResultStore(root) as store:
        (said,) = store.verify()
        assert harmed[:12] in said
        assert what in said
        assert said.endswith(".")
        assert list(store.rows(other)) == TWO
        assert store.read_file(other, "plans.json") == b"{}"
        assert store.scored([store.run("other")])
    (root / "index.sqlite").unlink()
    with ResultStore(root) as store:
        listed = {one.model for one in store.runs()}
        assert listed == ({"other"} if what == "entry.json" else {"other", "harmed"})
        assert (harmed in store.damaged) == (what == "entry.json")
        if what == "entry.json":
            return
        with pytest.raises(UsageError, match=f"{what} of run {harmed[:12]} .harmed. is missing or damaged"):
            list(store.rows(harmed)) if what == "rows.parquet" else store.read_file(harmed, what)
        if what == "rows.parquet" and harm is not flip:  # which byte a flipped bit is in decides who notices it
            with pytest.raises(UsageError, match="missing or damaged"):
                store.scored([store.run("harmed")])


def test_an_entry_under_another_name_is_damage(two: tuple[Path, str, str]) -> None:
    """What an entry says is bound to its name: a copy under another one is not believed."""
    root, harmed, _ = two
    (root / "runs" / harmed).rename(root / "runs" / f"{harmed[:-1]}{'0' if harmed[-1] != '0' else '1'}")
    with ResultStore(root) as store:
        assert [one.model for one in store.runs()] == ["other"]
        assert "is not what was written under this name" in " ".join(store.verify())


def test_newer_entries_and_stores_are_told_from_damage(two: tuple[Path, str, str]) -> None:
    """An entry of a newer version is left out with its schema; a newer store is not opened at all."""
    root, harmed, _ = two
    path = root / "runs" / harmed / "entry.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"schema": 9}))
    (root / "index.sqlite").unlink()
    with ResultStore(root) as store:
        assert [one.model for one in store.runs()] == ["other"]
        assert "has schema 9, this version of benchwright reads 1" in store.damaged[harmed]
        assert store.verify() == [store.damaged[harmed]]
        assert store.gc().kept_blobs.startswith("1 runs cannot be read")
    (root / "store.json").write_text('{"schema": 2}')
    with pytest.raises(UsageError, match=r"store\.json has schema 2, this version of benchwright reads 1"):
        ResultStore(root)
    (root / "store.json").write_text("{")
    with pytest.raises(UsageError, match=r"store\.json cannot be read"):
        ResultStore(root)


def test_half_an_entry_is_invisible_and_cleared_away(two: tuple[Path, str, str]) -> None:
    """A folder without entry.json, as half an upload leaves, is no run; clearing removes it."""
    root, _, _ = two
    place = root / "runs" / ("ab" * 32)
    place.mkdir()
    (place / "rows.parquet").write_bytes(b"PAR1")
    with ResultStore(root) as store:
        assert len(store.runs()) == 2
        assert len(store.verify()) == 1
        assert store.gc().stages == 1
        assert store.verify() == []
        assert len(store.runs()) == 2
    assert not place.exists()


def test_stages_of_the_dead_go_and_those_of_the_living_stay(tmp_path: Path) -> None:
    """A writer's hidden folder is cleared away when its process is gone, and not before."""
    with ResultStore(tmp_path) as store:
        store.add(run(), TWO, {})
        dead, living = Stage(tmp_path), Stage(tmp_path)
        os.close(dead._descriptor)  # what the kernel does when a process is killed
        assert store.gc(dry_run=True).stages == 1
        assert dead.path.exists()
        assert store.gc().stages == 1
        assert (dead.path.exists(), living.path.exists()) == (False, True)
        living.close()
        assert store.gc().stages == 0


def test_contents_that_no_run_needs_go_and_shared_ones_stay(two: tuple[Path, str, str]) -> None:
    """Nothing goes while a run needs it; superseded entries go on request alone, and then what they alone needed."""
    root, harmed, other = two
    with ResultStore(root) as store:
        assert store.gc().to_plain() == {
            "dry_run": False, "stages": 0, "superseded": 0, "blobs": 0, "freed_bytes": 0, "kept_blobs": ""
        }  # fmt: skip
        newer = store.add(run("r1", "harmed", BETTER), BETTER, {"plans.json": b"{}"})
        assert store.gc().superseded == 0
        planned = store.gc(superseded=True, dry_run=True)
        assert (planned.superseded, len(store.runs(superseded=True))) == (1, 3)
        done = store.gc(superseded=True)
        assert (done.superseded, done.blobs) == (1, 1)
        assert done.freed_bytes == planned.freed_bytes > 0
        assert {one.entry for one in store.runs(superseded=True)} == {newer.entry, other}
        assert store.verify() == []
        assert store.read_file(newer.entry, "plans.json") == b"{}"
        assert store.add(run("r1", "harmed", BETTER), BETTER, {}).entry == newer.entry
    assert not (root / "runs" / harmed).exists()


def test_an_index_that_says_something_else_is_damage(two: tuple[Path, str, str]) -> None:
    """Verification compares the index with the entries."""
    root, harmed, _ = two
    with sqlite3.connect(root / "index.sqlite") as connection:
        connection.execute("UPDATE entries SET model = '\"forged\"' WHERE entry = ?", (harmed,))
    connection.close()
    with ResultStore(root) as store:
        (said,) = store.verify()
        assert f"The index does not say of run {harmed[:12]} what its entry says" in said
        store.rebuild()
        assert store.verify() == []
