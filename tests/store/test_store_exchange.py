"""Runs go to another place and come back unchanged, or with a sentence on why not."""

import dataclasses
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest
from entry_pieces import HOSTILE_NAMES, TWO, reported, rows_of, run

from benchwright.core.errors import UsageError
from benchwright.core.results import StoredRun
from benchwright.core.verdicts import Outcome
from benchwright.store.exchange import export_runs, import_runs
from benchwright.store.index import TAKEN_IN
from benchwright.store.results import ResultStore

BETTER = rows_of([Outcome.PASSED, Outcome.PASSED])


def silent(*_: int) -> None:
    """Take progress and say nothing."""


def said(store: ResultStore) -> list[tuple[StoredRun, bool]]:
    """All entries and which of them count, whoever recorded them."""
    counts = {one.entry for one in store.runs()}
    return [
        (dataclasses.replace(one, flags=tuple(name for name in one.flags if name != TAKEN_IN)), one.entry in counts)
        for one in store.runs(superseded=True)
    ]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ResultStore]:
    """A store with a regraded run, one of a hostile name, and one of scores alone."""
    with ResultStore(tmp_path / "s") as opened:
        opened.add(run("r1"), TWO, {"plans.json": b"{}"})
        opened.add(run("r1", rows=BETTER), BETTER, {"plans.json": b"{}"})
        opened.add(run("r2", HOSTILE_NAMES[5]), TWO, {"logs/Größe 1/report.json": b"odd"})
        opened.add(reported(), [], {})
        yield opened


@pytest.fixture(params=["folder", "file", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A place to export to."""
    yield {
        "folder": str(tmp_path / "out"),
        "file": f"file://{tmp_path / 'out'}",
        "memory": "memory://benchwright-test",
    }[request.param]
    fsspec.filesystem("memory").store.clear()


def test_an_export_is_taken_in_as_it_was(store: ResultStore, place: str, tmp_path: Path) -> None:
    """Another store then says the same, of superseded entries too; nothing is written or taken twice."""
    runs = store.runs(superseded=True)
    told: list[int] = []
    done = export_runs(store, runs, place, told.append)
    assert (len(done.entries), done.there_before, told) == (4, 0, [1, 2, 3, 4])
    again = export_runs(store, runs, place, silent)
    assert (again.entries, again.there_before) == ((), 4)
    with ResultStore(tmp_path / "other") as other:
        taken = import_runs(other, place, silent)
        assert (sorted(taken.entries), taken.problems) == (sorted(run.entry for run in runs), ())
        assert import_runs(other, place, silent).there_before == 4
        assert said(other) == said(store)
        assert other.verify() == []
        for one in runs:
            assert list(other.rows(one.entry)) == list(store.rows(one.entry))
            assert all(other.read_file(one.entry, name) == store.read_file(one.entry, name) for name in one.files)


def test_stores_that_went_apart_agree_once_each_takes_over(store: ResultStore, tmp_path: Path) -> None:
    """Until then each counts what it has recorded itself, and names the other's; then both count the same entry."""
    export_runs(store, store.runs(superseded=True), "memory://apart", silent)
    third = rows_of([Outcome.FAILED, Outcome.FAILED])
    with ResultStore(tmp_path / "other") as other:
        import_runs(other, "memory://apart", silent)
        store.add(run("r1", rows=third), third, {})
        other.add(run("r1"), TWO, {})
        export_runs(store, store.runs(superseded=True), "memory://one", silent)
        export_runs(other, other.runs(superseded=True), "memory://two", silent)
        own = [[one.entry for one in each.runs() if one.run_id == "r1"] for each in (store, other)]
        for each, place in ((other, "memory://one"), (store, "memory://two")):
            assert len(import_runs(each, place, silent).beside) == 1
        assert [[one.entry for one in each.runs() if one.run_id == "r1"] for each in (store, other)] == own
        for each, place in ((other, "memory://one"), (store, "memory://two")):
            assert import_runs(each, place, silent, take_over=True).entries == ()
        assert said(other) == said(store)
        assert other.index_dump() == store.index_dump()
        assert len([one for one in store.runs() if one.run_id == "r1"]) == 1
    fsspec.filesystem("memory").store.clear()


@pytest.mark.parametrize("what", ["rows.parquet", "blob", "entry.json", "missing rows", "missing blob", "newer"])
def test_what_is_not_as_it_was_is_left_out_and_named(store: ResultStore, tmp_path: Path, what: str) -> None:
    """One damaged run keeps none of the others away."""
    place = tmp_path / "out"
    (damaged,) = [one for one in store.runs() if one.run_id == "r1"]
    export_runs(store, store.runs(), str(place), silent)
    folder = place / "runs" / damaged.entry
    content = place / "blobs" / damaged.files["manifest.json"][:2] / f"{damaged.files['manifest.json']}.zst"
    match what:
        case "rows.parquet":
            (folder / "rows.parquet").write_bytes((folder / "rows.parquet").read_bytes() + b"x")
        case "blob":
            content.write_bytes(b"garbage")
        case "missing rows":
            (folder / "rows.parquet").unlink()
        case "missing blob":
            content.unlink()
        case "newer":
            entry = json.loads((folder / "entry.json").read_text())
            (folder / "entry.json").write_text(json.dumps(entry | {"schema": 7}))
        case _:
            (folder / "entry.json").write_text(
                (folder / "entry.json").read_text().replace('"solved": 2', '"solved": 9')
            )
    with ResultStore(tmp_path / "other") as other:
        done = import_runs(other, str(place), silent)
        (said,) = done.problems
        assert said.startswith(f"Run {damaged.entry[:12]} is left out: ")
        assert ("schema 7" in said) == (what == "newer")
        assert len(done.entries) == 2
        assert damaged.entry not in other.layout.names()
        assert other.verify() == []


def test_half_an_upload_shows_nothing(store: ResultStore, tmp_path: Path) -> None:
    """Until entry.json is there, which is written last, there is no run; exporting again completes it."""
    place = tmp_path / "out"
    runs = store.runs()
    export_runs(store, runs, str(place), silent)
    (place / "runs" / runs[0].entry / "entry.json").unlink()
    with ResultStore(tmp_path / "other") as other:
        done = import_runs(other, str(place), silent)
        assert (len(done.entries), done.problems) == (2, ())
        assert len(export_runs(store, runs, str(place), silent).entries) == 1
        assert len(import_runs(other, str(place), silent).entries) == 1


def test_a_damaged_run_does_not_hold_up_an_export(store: ResultStore, place: str, tmp_path: Path) -> None:
    """It is left out with a sentence, whatever of it is damaged; all others are copied, and nothing of it is."""
    rows, blob = (one for one in store.runs(superseded=True) if one.scores and one.run_id == "r1")
    (entry,) = (one for one in store.runs() if one.run_id == "r2")
    store.layout.rows(rows.entry).write_bytes(b"PAR1")
    store.layout.rows(blob.entry).unlink()
    (store.layout.entry(entry.entry) / "entry.json").write_text("{}")
    done = export_runs(store, store.runs(superseded=True), place, silent)
    assert (len(done.entries), len(done.problems)) == (1, 3)
    for one, name in ((rows, "rows.parquet"), (blob, "rows.parquet"), (entry, "entry.json")):
        assert [text for text in done.problems if one.entry[:12] in text and name in text]
    with ResultStore(tmp_path / "other") as other:
        assert import_runs(other, place, silent).entries == done.entries


def test_entry_json_is_written_last(store: ResultStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each run every other file is at the place before."""
    written: list[str] = []
    memory = fsspec.filesystem("memory")
    put = type(memory).pipe_file
    monkeypatch.setattr(
        type(memory), "pipe_file", lambda self, path, *a, **k: (written.append(path), put(self, path, *a, **k))
    )
    (one,) = store.runs(model="m", benchmark="b", origin=None)[-1:]
    export_runs(store, [one], "memory://order", silent)
    memory.store.clear()
    assert written[0].endswith("store.json")
    assert [path.endswith("entry.json") for path in written] == [False] * (len(written) - 1) + [True]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nosuch://x", "is no place that can be reached .Protocol not known: nosuch"),
        ("gs://bucket", "needs a package that is not installed: .*gcsfs"),
    ],
)
def test_a_missing_driver_is_named(store: ResultStore, address: str, words: str) -> None:
    """The sentence says which package reaches such addresses."""
    if address.startswith("gs") and shutil.which("gcsfuse"):
        pytest.skip("the driver may be installed")
    with pytest.raises(UsageError, match=words):
        export_runs(store, store.runs(), address, silent)


def test_nothing_is_exported_into_a_store_in_use(store: ResultStore, tmp_path: Path) -> None:
    """The message gives the command that takes the runs in there instead."""
    with ResultStore(tmp_path / "other"):
        pass
    with pytest.raises(UsageError, match=r"bw store import .* --store"):
        export_runs(store, store.runs(), str(tmp_path / "other"), silent)


def test_a_place_without_an_export_is_refused(store: ResultStore, tmp_path: Path) -> None:
    """Nothing there, or something of a newer version, is one sentence."""
    with pytest.raises(UsageError, match=r"holds no store\.json"):
        import_runs(store, str(tmp_path / "nothing"), silent)
    (tmp_path / "new").mkdir()
    (tmp_path / "new/store.json").write_text('{"schema": 3}')
    for use in (
        lambda: import_runs(store, str(tmp_path / "new"), silent),
        lambda: export_runs(store, [], str(tmp_path / "new"), silent),
    ):
        with pytest.raises(UsageError, match="has schema 3"):
            use()


@pytest.mark.parametrize("name", ["entry.json", "rows.parquet"])
def test_a_pipe_in_an_export_is_left_out(store: ResultStore, tmp_path: Path, name: str) -> None:
    """It is not waited for; the other runs are taken, and the store itself does not wait for one either."""
    (entry,) = (one.entry for one in store.runs() if one.run_id == "r1")
    export_runs(store, store.runs(), str(tmp_path / "out"), silent)
    pipe = tmp_path / "out" / "runs" / entry / name
    pipe.unlink()
    os.mkfifo(pipe)
    with ResultStore(tmp_path / "other") as other:
        done = import_runs(other, str(tmp_path / "out"), silent)
    assert len(done.entries) == 2
    assert "it is no file" in done.problems[0]
    if name == "entry.json":
        with ResultStore(tmp_path / "out", read_only=True) as opened:
            assert len(opened.runs()) == 2
            assert "its entry.json is no file" in opened.damaged[entry]
