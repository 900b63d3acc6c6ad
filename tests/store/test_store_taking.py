"""An entry that others made is taken in for what its rows say, and replaces nothing that this store recorded."""

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from entry_pieces import TWO, row, rows_of, run

from benchwright.core.digest import digest_of
from benchwright.core.results import Origin, StoredRun
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason
from benchwright.store.blobs import blob_name, write_blob
from benchwright.store.entries import Entry, content_digest
from benchwright.store.exchange import export_runs, import_runs
from benchwright.store.index import TAKEN_IN
from benchwright.store.results import ResultStore
from benchwright.store.row_tables import write_rows

BETTER = rows_of([Outcome.PASSED, Outcome.PASSED])
WORSE = rows_of([Outcome.FAILED, Outcome.FAILED])


def silent(*_: int) -> None:
    """Take progress and say nothing."""


def forge(
    place: Path,
    said: StoredRun,
    rows: Sequence[ResultRow] = TWO,
    *,
    content: str | None = None,
    generation: int = 1,
    blobs: dict[str, bytes] | None = None,
) -> str:
    """Put an entry with its right digest at a place, whatever it says; returns its name."""
    scratch = place.with_name("scratch.parquet")
    write_rows(scratch, rows)
    files = {"rows.parquet": hashlib.sha256(scratch.read_bytes()).hexdigest()}
    for name, data in (blobs or {}).items():
        files[name] = hashlib.sha256(data).hexdigest()
        (place / blob_name(files[name])).parent.mkdir(parents=True, exist_ok=True)
        write_blob(place / blob_name(files[name]), data)
    said = dataclasses.replace(said, files=files, recorded="2026-01-01T00:00:00+00:00")
    entry = Entry.sealed(said, content or content_digest(said, rows), generation)
    folder = place / "runs" / entry.run.entry
    folder.mkdir(parents=True)
    scratch.rename(folder / "rows.parquet")
    (folder / "entry.json").write_bytes(entry.to_bytes())
    (place / "store.json").write_text(json.dumps({"schema": 1}))
    return entry.run.entry


@pytest.mark.parametrize(
    ("change", "rows", "words"),
    [
        ({"solved": 2}, TWO, "says 2 for solved, and its rows come to 1"),
        ({"problems": 148}, TWO, "says 148 for problems, and its rows come to 2"),
        ({"faults": 1}, TWO, "says 1 for faults"),
        ({"missing": 1}, TWO, "says 1 for missing"),
        ({"samples": 5}, TWO, "says 5 for samples"),
        ({"scores": (Score.PATCH,)}, TWO, "its rows are not of the scores"),
        ({"content": "f" * 64}, TWO, "digest of its content is not that of its rows"),
        ({}, [*TWO, TWO[0]], "rows twice for the same problem"),
        ({"scores": (), "problems": 0, "solved": 0}, [], "it has no rows, and is no score that somebody else states"),
    ],
)
def test_what_its_rows_do_not_say_is_not_taken_in(
    tmp_path: Path, change: dict[str, object], rows: list[ResultRow], words: str
) -> None:
    """Counts, scores and the digest of the content are made of the rows and compared."""
    content = change.pop("content", None)
    forge(tmp_path / "place", run(rows=TWO, **change), rows, content=content)  # type: ignore[arg-type]
    with ResultStore(tmp_path / "s") as store:
        (said,) = import_runs(store, str(tmp_path / "place"), silent).problems
        assert words in said
        assert store.layout.names() == set()


def test_tampering_that_is_not_said_is_not_taken_in(tmp_path: Path) -> None:
    """Rows with a verdict of tampering need the flag."""
    bad = dataclasses.replace(row(outcome=Outcome.FAILED).verdict, reason=Reason.TAMPERED)
    rows = [dataclasses.replace(row(), verdict=bad)]
    forge(tmp_path / "place", run("silent", rows=rows), rows)
    forge(tmp_path / "place", run("said", rows=rows, flags=("tampered",)), rows)
    with ResultStore(tmp_path / "s") as store:
        (said,) = import_runs(store, str(tmp_path / "place"), silent).problems
        assert "interfered with the tests, and it does not say so" in said
        assert [one.run_id for one in store.runs()] == ["said"]


def test_a_foreign_entry_never_counts_for_an_own_run(tmp_path: Path) -> None:
    """However it is made, the own one counts, is kept by cleaning, and goes on; the other is listed beside it."""
    with ResultStore(tmp_path / "s") as store:
        own = store.add(run(), TWO, {})
        forged = forge(tmp_path / "place", run(rows=BETTER, supersedes=own.entry), BETTER, generation=2)
        done = import_runs(store, str(tmp_path / "place"), silent)
        assert (done.entries, done.beside, done.problems) == ((forged,), (forged,), ())
        assert [one.entry for one in store.runs()] == [own.entry]
        assert store.run("r").entry == own.entry
        assert store.run(forged).flags == (TAKEN_IN,)
        assert {one.entry for one in store.runs(superseded=True)} == {own.entry, forged}
        store.rebuild()
        assert [one.entry for one in store.runs()] == [own.entry]
        newer = store.add(run(rows=WORSE), WORSE, {})
        assert (newer.supersedes, [one.entry for one in store.runs()]) == (own.entry, [newer.entry])
        store.gc(superseded=True)
        assert newer.entry in store.layout.names()
        assert store.verify() == []


def test_cleaning_keeps_an_own_entry_from_a_foreign_one(tmp_path: Path) -> None:
    """What another store made after it is no reason to drop it."""
    with ResultStore(tmp_path / "s") as store:
        own = store.add(run(), TWO, {})
        forge(tmp_path / "place", run(rows=BETTER, supersedes=own.entry), BETTER, generation=2)
        import_runs(store, str(tmp_path / "place"), silent)
        store.gc(superseded=True)
        assert [one.entry for one in store.runs(superseded=True)] == [own.entry]


@pytest.mark.parametrize("generation", [2, 10**6, 10**6 + 1])
def test_a_generation_needs_the_entries_before_it(tmp_path: Path, generation: int) -> None:
    """A number out of nowhere replaces nothing, be what is there own or foreign; asked for, it takes over."""
    first = forge(tmp_path / "one", run(), TWO)
    forge(tmp_path / "two", run(rows=BETTER, supersedes="a" * 64), BETTER, generation=generation)
    forge(tmp_path / "three", run(rows=BETTER, supersedes=first), BETTER, generation=generation + 1)
    with ResultStore(tmp_path / "s") as store:
        import_runs(store, str(tmp_path / "one"), silent)
        for place in ("two", "three"):
            (said,) = import_runs(store, str(tmp_path / place), silent).problems
            assert "replaces" in said or "it is number" in said
        assert [one.entry for one in store.runs(superseded=True)] == [first]
        done = import_runs(store, str(tmp_path / "two"), silent, take_over=True)
        assert [one.entry for one in store.runs()] == (list(done.entries) or [first])
        assert bool(done.entries) is (generation <= 10**6)


def test_the_end_of_a_chain_alone_is_taken_in_where_nothing_is(tmp_path: Path) -> None:
    """What it replaced may have been cleared away where it comes from; an own grading supersedes it then."""
    with ResultStore(tmp_path / "far") as far:
        far.add(run(), TWO, {})
        far.add(run(rows=BETTER), BETTER, {})
        far.gc(superseded=True)
        export_runs(far, far.runs(), str(tmp_path / "place"), silent)
    with ResultStore(tmp_path / "s") as store:
        (foreign,) = import_runs(store, str(tmp_path / "place"), silent).entries
        own = store.add(run(rows=WORSE), WORSE, {})
        assert (own.supersedes, own.flags, [one.entry for one in store.runs()]) == (foreign, (), [own.entry])


def test_a_later_grading_elsewhere_follows_one_from_there(tmp_path: Path) -> None:
    """Two imports of a store that goes on: its newer entry counts, for nothing here is replaced."""
    with ResultStore(tmp_path / "far") as far, ResultStore(tmp_path / "s") as store:
        far.add(run(), TWO, {})
        export_runs(far, far.runs(), str(tmp_path / "place"), silent)
        import_runs(store, str(tmp_path / "place"), silent)
        newer = far.add(run(rows=BETTER), BETTER, {})
        export_runs(far, far.runs(), str(tmp_path / "place"), silent)
        done = import_runs(store, str(tmp_path / "place"), silent)
        assert (done.entries, done.beside) == ((newer.entry,), ())
        assert [one.entry for one in store.runs()] == [newer.entry]


def test_what_was_taken_in_and_is_then_recorded_here_is_own(tmp_path: Path) -> None:
    """The same files make it the same entry; the same verdicts with other files make one beside."""
    with ResultStore(tmp_path / "far") as far, ResultStore(tmp_path / "s") as store:
        foreign = far.add(run(), TWO, {"plans.json": b"{}"})
        export_runs(far, far.runs(), str(tmp_path / "place"), silent)
        import_runs(store, str(tmp_path / "place"), silent)
        assert store.run("r").flags == (TAKEN_IN,)
        other = store.add(run(), TWO, {"plans.json": b"[]"})
        assert (other.entry != foreign.entry, other.supersedes) == (True, foreign.entry)
    with ResultStore(tmp_path / "third") as third:
        import_runs(third, str(tmp_path / "place"), silent)
        same = third.add(run(), TWO, {"plans.json": b"{}"})
        assert (same.entry, same.flags) == (foreign.entry, ())
        assert third.run("r").flags == ()


def test_what_somebody_handed_over_yields_to_what_was_recorded(tmp_path: Path) -> None:
    """It counts where nothing else does, and beside an own entry it does not."""
    with ResultStore(tmp_path / "s") as store:
        given = store.add(run(), TWO, {}, yields=True)
        assert [one.entry for one in store.runs()] == [given.entry]
        own = store.add(run(rows=WORSE), WORSE, {})
        store.add(run(rows=BETTER), BETTER, {}, yields=True)
        assert [one.entry for one in store.runs()] == [own.entry]


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\0" * (33 * 2**20), "it unpacks to more than 33,554,432 bytes"), (b"\0" * (31 * 2**20), "")],
)
def test_what_unpacks_to_far_more_is_not_taken_in(tmp_path: Path, content: bytes, words: str) -> None:
    """A few bytes may stand for as much as a file of results has, and no more."""
    forge(tmp_path / "place", run(), TWO, blobs={"plans.json": content})
    with ResultStore(tmp_path / "s") as store:
        done = import_runs(store, str(tmp_path / "place"), silent)
        assert (len(done.problems), len(done.entries)) == ((1, 0) if words else (0, 1))
        assert words in "".join(done.problems)


def test_rows_without_end_are_not_taken_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of rows says how many it has before any is read."""
    monkeypatch.setattr("benchwright.store.taking.MOST_ROWS", 1)
    forge(tmp_path / "place", run(), TWO)
    with ResultStore(tmp_path / "s") as store:
        (said,) = import_runs(store, str(tmp_path / "place"), silent).problems
        assert "it has 2 rows in" in said


def test_a_text_that_stands_in_every_row_is_counted_in_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file holds it once, and whoever reads the rows holds it many times."""
    monkeypatch.setattr("benchwright.store.taking.MOST_LETTERS", 10_000)
    for number, count in enumerate((9, 11)):
        rows = [row(f"p/{n}", detail="x" * 1_000) for n in range(count)]
        forge(tmp_path / "place", run(f"r{number}", rows=rows), rows)
    with ResultStore(tmp_path / "s") as store:
        (said,) = import_runs(store, str(tmp_path / "place"), silent).problems
        assert "their texts have more than 10,000 letters" in said
        assert [one.run_id for one in store.runs()] == ["r0"]


def test_an_own_score_without_rows_is_not_taken_in(tmp_path: Path) -> None:
    """Only sources that are named state scores alone."""
    bare = run("r", rows=(), origin=Origin.OWN)
    forge(tmp_path / "place", bare, ())
    with ResultStore(tmp_path / "s") as store:
        (said,) = import_runs(store, str(tmp_path / "place"), silent).problems
        assert "no rows" in said


@pytest.mark.parametrize("part", ["runs", "blobs", ".staging", "blobs/aa", "index.sqlite", ".lock"])
def test_a_store_with_a_link_in_it_is_refused(tmp_path: Path, part: str) -> None:
    """What would be written or removed there is elsewhere; nothing is."""
    with ResultStore(tmp_path / "s") as store:
        store.add(run(), TWO, {})
    victim = tmp_path / "victim"
    (victim / "sub").mkdir(parents=True)
    (victim / "sub/letter.txt").write_text("dear")
    path = tmp_path / "s" / part
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(victim)
    for open_it in (ResultStore, lambda root: ResultStore(root, read_only=True)):
        with pytest.raises(Exception, match="is a link, and a store of results has none in it"):
            open_it(tmp_path / "s")
    assert (victim / "sub/letter.txt").read_text() == "dear"
    assert len(list(victim.rglob("*"))) == 2


def make_link(path: Path, target: Path) -> None:
    """Put a link in place of a folder or file, which goes to the target."""
    path.rename(target)
    path.symlink_to(target)


@pytest.mark.parametrize("what", ["entry", "entry.json", "stage"])
def test_cleaning_removes_links_and_not_what_they_lead_to(tmp_path: Path, what: str) -> None:
    """An entry that is a link is damage; a stage that is one goes, and what it leads to stays."""
    with ResultStore(tmp_path / "s") as store:
        entry = store.add(run(), TWO, {}).entry
    target, folder = tmp_path / "target", tmp_path / "s/runs" / entry
    match what:
        case "entry":
            make_link(folder, target)
        case "entry.json":
            make_link(folder / "entry.json", target)
        case _:
            target.mkdir()
            (tmp_path / "s/.staging/x").symlink_to(target)
    (tmp_path / "s/index.sqlite").unlink()
    with ResultStore(tmp_path / "s") as store:
        assert bool(store.damaged) is (what != "stage")
        done = store.gc(superseded=True)
        assert done.stages == (what == "stage")
    assert target.exists()
    assert not (tmp_path / "s/.staging/x").is_symlink()


def test_an_index_that_is_a_folder_is_one_sentence(tmp_path: Path) -> None:
    """It says what to move away; reading alone goes on without."""
    with ResultStore(tmp_path / "s") as store:
        store.add(run(), TWO, {})
    (tmp_path / "s/index.sqlite").unlink()
    (tmp_path / "s/index.sqlite").mkdir()
    with pytest.raises(Exception, match="is a folder, where the store's index should be; move it away"):
        ResultStore(tmp_path / "s")
    with ResultStore(tmp_path / "s", read_only=True) as store:
        assert len(store.runs()) == 1


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("problem_id", pa.nulls(2, pa.string())),
        ("sample", pa.array([-1, 0], pa.int32())),
        ("sample", pa.array([0, None], pa.int32())),
        ("sample", pa.array(["a", "b"])),
        ("problem_id", pa.array([1, 2])),
        ("detail", pa.nulls(2, pa.string())),
        ("judge_version", pa.nulls(2, pa.int32())),
        ("wall_seconds", pa.array([float("nan"), -1.0])),
        ("notes", pa.array([[None], []], pa.list_(pa.string()))),
        ("outcome", pa.array(["solved", "passed"])),
        ("extra", pa.array([1, 2])),
    ],
)
def test_rows_of_other_kinds_are_not_taken_in(tmp_path: Path, column: str, value: pa.Array) -> None:
    """Parquet holds whatever is put in it; one such file would keep others from being read beside it."""
    place = tmp_path / "place"
    name = forge(place, run(), TWO)
    path = place / "runs" / name / "rows.parquet"
    table = pq.read_table(path)
    where = table.column_names.index(column) if column in table.column_names else table.num_columns
    changed = table.remove_column(where) if where < table.num_columns else table
    pq.write_table(changed.add_column(where, column, value), path)
    document = json.loads((path.parent / "entry.json").read_text())
    document["run"]["files"]["rows.parquet"] = hashlib.sha256(path.read_bytes()).hexdigest()
    document.pop("entry")
    renamed = path.parent.with_name(digest_of(document))
    path.parent.rename(renamed)
    (renamed / "entry.json").write_text(json.dumps({"entry": renamed.name, **document}))
    with ResultStore(tmp_path / "s") as store:
        (said,) = import_runs(store, str(place), silent).problems
        assert "its rows cannot be read" in said


def test_what_another_store_recorded_goes_before_a_bundle(tmp_path: Path) -> None:
    """A backup of a run counts in place of the same run out of a bundle; taken over, before all of these."""
    with ResultStore(tmp_path / "far") as far:
        far.add(run(), TWO, {})
        export_runs(far, far.runs(), str(tmp_path / "place"), silent)
    with ResultStore(tmp_path / "s") as store:
        given = store.add(run(rows=WORSE, flags=("bundle",)), WORSE, {})
        assert [one.entry for one in store.runs()] == [given.entry]
        done = import_runs(store, str(tmp_path / "place"), silent)
        assert ([one.entry for one in store.runs()], done.beside) == (list(done.entries), ())
        store.add(run(rows=BETTER, flags=("from_folder",)), BETTER, {}, yields=True)
        again = import_runs(store, str(tmp_path / "place"), silent, take_over=True)
        assert ([one.entry for one in store.runs()], again.beside) == (list(done.entries), ())
        own = store.add(run(rows=BETTER), BETTER, {})
        assert [one.entry for one in store.runs()] == [own.entry]


def test_what_is_taken_over_in_vain_is_told(tmp_path: Path) -> None:
    """Where the store itself has a later grading of a run, that one still counts."""
    with ResultStore(tmp_path / "far") as far:
        first = far.add(run(), TWO, {})
        export_runs(far, far.runs(), str(tmp_path / "place"), silent)
    with ResultStore(tmp_path / "s") as store:
        store.add(run(rows=WORSE), WORSE, {})
        own = store.add(run(rows=BETTER), BETTER, {})
        done = import_runs(store, str(tmp_path / "place"), silent, take_over=True)
        assert [one.entry for one in store.runs()] == [own.entry]
        assert done.beside == (first.entry,)
