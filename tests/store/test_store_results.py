"""The store of results: what was recorded is there, once, whatever is in it and whoever writes beside."""

import dataclasses
import re
import sqlite3
from pathlib import Path

import pytest
from entry_pieces import ANY_ROW, FILES, HOSTILE_NAMES, TWO, reported, row, rows_of, run
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.results import Origin, Tally
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome
from benchwright.store.reading import DamagedError
from benchwright.store.results import ResultStore
from benchwright.store.row_tables import read_rows, storable, write_rows


def test_a_recorded_run_is_read_back(tmp_path: Path) -> None:
    """Rows, tallies, files, manifest and facts come back as they were given."""
    with ResultStore(tmp_path / "s") as store:
        added = store.add(run(), TWO, FILES)
        found = store.run("m")
        assert found == added
        assert store.run(added.entry[:6]) == store.run("r") == found
        assert list(store.rows(found.entry)) == TWO
        (scored,) = store.scored(store.runs())
        assert scored.score is Score.CALIBRATED
        assert scored.tallies == {"p/0": Tally(scored=1, passed=1), "p/1": Tally(scored=1, passed=0)}
        assert {name: store.read_file(found.entry, name) for name in FILES} == dict(FILES)
        assert found.manifest == {"run_id": "r", "status": "complete"}
        assert store.problem_facts(found.entry) == {}
        assert store.verify() == []
        with pytest.raises(UnknownNameError, match=r"plans\.json"):
            store.read_file(found.entry, "plan.json")


@pytest.mark.parametrize("content", [b"{", b"[1]", b"null", b"[" * 100_000])
def test_a_manifest_that_is_none_is_told(tmp_path: Path, content: bytes) -> None:
    """Whoever made the run may have kept anything under that name."""
    with ResultStore(tmp_path / "s") as store:
        store.add(run(manifest={}), TWO, {"manifest.json": content})
        with pytest.raises(DamagedError, match=r"manifest\.json of run .* is missing or damaged"):
            store.run("m")
        assert store.sound(store.runs(), store.with_manifest) == []


def test_faults_are_left_out_and_missing_samples_count(tmp_path: Path) -> None:
    """A tally's scored samples are all but faults; a problem that has faults alone is still in it."""
    rows = [
        row("p/0", Outcome.FAULT),
        row("p/1", Outcome.FAULT, sample=0),
        row("p/1", Outcome.PASSED, sample=1),
        row("p/2", Outcome.NO_ANSWER),
    ]
    with ResultStore(tmp_path) as store:
        stored = store.add(run(rows=rows), rows, {})
        assert store.scored([stored])[0].tallies == {
            "p/0": Tally(scored=0, passed=0, faults=1),
            "p/1": Tally(scored=1, passed=1, faults=1),
            "p/2": Tally(scored=1, passed=0),
        }


@settings(deadline=None, max_examples=30)
@given(st.lists(ANY_ROW, max_size=4))
def test_rows_survive_parquet(tmp_path_factory: pytest.TempPathFactory, rows: list[ResultRow]) -> None:
    """Rows come back from the file in order; only lone surrogates are spelled out, and that only once."""
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    kept = [storable(one) for one in rows]
    assert [storable(one) for one in kept] == kept
    write_rows(path, kept)
    assert list(read_rows(path)) == kept
    assert all(a == b for a, b in zip(rows, kept, strict=True) if a.verdict.detail.isprintable())


def test_the_same_verdicts_again_are_the_entry_that_is_there(tmp_path: Path) -> None:
    """Other times of the same verdicts make no new entry; another verdict makes one that supersedes it."""
    slower = [dataclasses.replace(one, wall_seconds=9.0, cpu_seconds=8.0) for one in TWO]
    better = rows_of([Outcome.PASSED, Outcome.PASSED])
    with ResultStore(tmp_path) as store:
        first = store.add(run(), TWO, FILES)
        again = store.add(run(finished="2099-01-01T00:00:00+00:00", manifest={"other": 1}), slower, {})
        assert again == first
        second = store.add(run(rows=better), better, {})
        assert second.supersedes == first.entry
        third = store.add(run(), TWO, FILES)  # what counted once counts again, and is recorded as that
        assert (third.supersedes, third.entry != first.entry) == (second.entry, True)
        assert [one.entry for one in store.runs()] == [third.entry]
        assert {one.entry for one in store.runs(superseded=True)} == {first.entry, second.entry, third.entry}
        assert store.run(first.entry[:8]).entry == first.entry
        assert store.run("r").entry == third.entry


def test_no_clock_decides_what_supersedes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that runs backwards the entry recorded last counts all the same."""
    better = rows_of([Outcome.PASSED, Outcome.PASSED])
    with ResultStore(tmp_path) as store:
        first = store.add(run(), TWO, {})
        monkeypatch.setattr("benchwright.store.results.now", lambda: "1999-01-01T00:00:00+00:00")
        second = store.add(run(rows=better), better, {})
        assert second.recorded < first.recorded
        assert [one.entry for one in store.runs()] == [second.entry]


def test_runs_of_one_name_are_different_runs(tmp_path: Path) -> None:
    """They are listed side by side, and the name alone does not choose one: the message tells them apart."""
    with ResultStore(tmp_path) as store:
        entries = [store.add(run(name, variant=variant), TWO, {}).entry for name, variant in (("r1", "a"), ("r2", "z"))]
        assert {one.entry for one in store.runs(model="m")} == set(entries)
        with pytest.raises(UsageError, match="the name of 2 runs") as caught:
            store.run("m")
        assert all(entry[:12] in str(caught.value) for entry in entries)
        assert "full a" in str(caught.value)
        assert [one.run_id for one in store.runs(variant="z")] == ["r2"]


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=range(len(HOSTILE_NAMES)))
def test_names_hold_anything_and_are_never_paths(tmp_path: Path, name: str) -> None:
    """A model's name comes back as it was, can be asked for, and no path in the store has anything of it."""
    root = tmp_path / "deep" / "store"
    with ResultStore(root) as store:
        content = name.encode("utf-8", "surrogatepass")
        added = store.add(run(name, name, benchmark=name, subset=name), TWO, {"plans.json": content})
        assert [one.model for one in store.runs(model=name, benchmark=name)] == [name]
        assert store.runs(model=f"{name}x") == []
        assert store.run(name).entry == added.entry
        assert store.read_file(added.entry, "plans.json") == content
        assert store.verify() == []
        before = store.index_dump()
        store.rebuild()
        assert store.index_dump() == before
        with pytest.raises(UsageError) as caught:
            store.scored([added], Score.PATCH)
        assert str(caught.value).isprintable()
    paths = [path.relative_to(root).as_posix() for path in root.rglob("*")]
    own = (
        r"store\.json|index\.sqlite|\.lock|\.staging"
        r"|runs(/\w{64}(/entry\.json|/rows\.parquet)?)?|blobs(/\w\w(/\w+\.zst)?)?"
    )
    assert [path for path in paths if not re.fullmatch(own, path)] == []
    assert list(tmp_path.iterdir()) == [tmp_path / "deep"]


@pytest.mark.parametrize("harm", ["delete", "garbage", "newer", "empty", "folder of a table"])
def test_an_index_that_is_gone_or_broken_is_made_anew(tmp_path: Path, harm: str) -> None:
    """Whatever became of the index, the same runs are listed, and it says the same as before."""
    with ResultStore(tmp_path) as store:
        store.add(run("r1"), TWO, {})
        store.add(run("r2", "other"), TWO, {})
        before = store.index_dump()
    index = tmp_path / "index.sqlite"
    match harm:
        case "delete":
            index.unlink()
        case "garbage":
            index.write_bytes(b"no database" * 1000)
        case "empty":
            index.write_bytes(b"")
        case "newer":
            with sqlite3.connect(index) as connection:
                connection.execute("PRAGMA user_version = 99")
            connection.close()
        case _:
            with sqlite3.connect(index) as connection:
                connection.execute("DROP TABLE entries")
            connection.close()
    with ResultStore(tmp_path, read_only=True) as store:
        assert len(store.runs()) == 2
    with ResultStore(tmp_path) as store:
        assert len(store.runs()) == 2
        assert store.index_dump() == before


def test_writers_see_each_other(tmp_path: Path) -> None:
    """What one object records, another that was open before lists and supersedes."""
    better = rows_of([Outcome.PASSED, Outcome.PASSED])
    with ResultStore(tmp_path) as one, ResultStore(tmp_path) as other:
        first = one.add(run(), TWO, {})
        assert [found.entry for found in other.runs()] == [first.entry]
        second = other.add(run(rows=better), better, {})
        assert second.supersedes == first.entry
        assert [found.entry for found in one.runs()] == [second.entry]


def test_an_entry_without_its_line_in_the_index_is_taken_in(tmp_path: Path) -> None:
    """A writer that was killed between the two leaves a run that is listed all the same."""
    with ResultStore(tmp_path) as store:
        added = store.add(run(), TWO, {})
        dump = store.index_dump()
        store._catalogue.use(lambda index: index.remove([added.entry]))
        assert store.index_dump() == []
    with ResultStore(tmp_path) as store:
        assert store.index_dump() == dump


def test_reading_alone_writes_nothing(tmp_path: Path) -> None:
    """A store that is not there is empty and stays away; one that is there is not touched, and nothing is recorded."""
    with ResultStore(tmp_path / "none", read_only=True) as store:
        assert store.runs() == []
        assert store.verify() == []
        with pytest.raises(UsageError, match="reading alone"):
            store.add(run(), TWO, {})
    assert not (tmp_path / "none").exists()
    with ResultStore(tmp_path / "s") as store:
        store.add(run(), TWO, {})
    (tmp_path / "s/index.sqlite").unlink()
    before = sorted(tmp_path.rglob("*"))
    with ResultStore(tmp_path / "s", read_only=True) as store:
        assert len(list(store.rows(store.run("m").entry))) == 2
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_with_other_things_is_no_store(tmp_path: Path) -> None:
    """Nothing is written among files that are not the store's."""
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match=r"is no store of results .it holds 'letter.txt'"):
        ResultStore(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("made", "rows", "files", "words"),
    [
        (run(scores=(Score.EXTRACTED,)), TWO, {}, "rows of extracted, but they are of calibrated"),
        (run(rows=()), TWO, {}, "rows of no score, but"),
        (run(), [*TWO, TWO[0]], {}, "1 rows are given twice"),
        (run(), TWO, {"rows.parquet": b""}, r"cannot be called rows\.parquet"),
        (run(cost=float("nan")), TWO, {}, "not finite"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    tmp_path: Path, made: object, rows: list[ResultRow], files: dict[str, bytes], words: str
) -> None:
    """The message says what is wrong, and nothing is recorded."""
    with ResultStore(tmp_path) as store:
        with pytest.raises(UsageError, match=words):
            store.add(made, rows, files)  # type: ignore[arg-type]
        assert store.runs() == []
        assert store.gc().stages == 0


def test_runs_of_scores_alone_have_no_rows(tmp_path: Path) -> None:
    """They are kept without a file of rows, have none to give, and say so when asked for tallies."""
    with ResultStore(tmp_path) as store:
        added = store.add(reported(), [], {})
        assert added.reported_only
        assert list(store.rows(added.entry)) == []
        assert not store.layout.rows(added.entry).exists()
        assert store.runs(origin=Origin.IMPORTED) == [added]
        assert store.runs(origin=Origin.OWN) == []
        with pytest.raises(UsageError, match="states scores alone"):
            store.scored([added])


def test_a_borrowed_run_is_read_and_not_written(tmp_path: Path) -> None:
    """What is in no store can be asked for like the rest; where the same is recorded, that is what is given."""
    with ResultStore(tmp_path) as store:
        lent = store.borrow(run(), TWO, {"problems.jsonl": b""})
        assert store.scored([lent])[0].tallies["p/0"].passed == 1
        assert list(store.rows(lent.entry)) == TWO
        assert store.read_file(lent.entry, "problems.jsonl") == b""
        assert store.problem_facts(lent.entry) == {}
        assert store.runs() == []
        added = store.add(run(), TWO, {})
        assert store.borrow(run(), TWO, {}) == added


def test_a_name_that_means_nothing_names_near_misses(tmp_path: Path) -> None:
    """Models and beginnings of ids that are there are told; two letters are no beginning of an id."""
    with ResultStore(tmp_path) as store:
        added = store.add(run(model="sparrow"), TWO, {})
        with pytest.raises(UnknownNameError, match="did you mean sparrow"):
            store.run("sparow")
        with pytest.raises(UnknownNameError, match=f"did you mean {added.entry[:12]}"):
            store.run(added.entry[:2])
        with pytest.raises(UnknownNameError, match=r"or Sparrow-7b-2024. `bw results list` shows all 2 runs in"):
            store.add(run("r2", "Sparrow-7b-2024"), TWO, {})
            store.run("sparrow-7B")


def test_an_unknown_name_prints_a_few_names_of_many(tmp_path: Path) -> None:
    """Of hundreds of runs at most five names are told, of several runs of one model five."""
    with ResultStore(tmp_path) as store:
        for number in range(60):
            store.add(run(f"r{number}", f"bird-{number:03}"), TWO, {})
        for name in ("bird", "nothing of the kind", "x" * 10_000):
            with pytest.raises(UnknownNameError, match="shows all 60 runs in") as found:
                store.run(name)
            assert len(str(found.value)) < 400 + len(str(tmp_path))
        for number in range(7):
            store.add(run(f"t{number}", "twin"), TWO, {})
        with pytest.raises(UsageError, match=r"twin is the name of 7 runs .*; 2 more.; give the id of one"):
            store.run("twin")


def test_a_name_in_an_empty_store_says_where_it_was_looked_for(tmp_path: Path) -> None:
    """The store is named, and what records something in it."""
    with ResultStore(tmp_path) as store, pytest.raises(UnknownNameError) as found:
        store.run("alder")
    assert f"no run at all in {tmp_path}: `bw grade`, `bw run` and `bw store import` record some" in str(found.value)
