"""``bw store`` and ``bw results``, and what gradings record, through the program."""

import csv
import dataclasses
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from app_pieces import ScriptedFactory, private_home, references, write_samples
from running_bw import Done, Run, start_bw

sys.path.append(str(Path(__file__).parents[1] / "store"))

from entry_pieces import HOSTILE_NAMES, TWO, reported, run

from benchwright.store.query import QueryStuck
from benchwright.store.results import ResultStore

OLD = Path(__file__).parents[1] / "store/data/results-schema-1"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store in the home: a run of the starter benchmark, one of every hostile name, one of scores alone."""
    place = tmp_path / "home/results"
    with ResultStore(place) as opened:
        opened.add(run("r1", "sparrow"), TWO, {"plans.json": b"{}"})
        for number, name in enumerate(HOSTILE_NAMES):
            opened.add(run(f"h{number}", name), TWO, {})
        opened.add(reported("stated"), [], {})
    return place


def json_of(done: Done, code: int = 0) -> dict[str, Any]:
    """The one object of a command."""
    assert done.returncode == code, done
    (line,) = done.stdout.splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def sentence(done: Done, code: int = 2) -> str:
    """The one sentence of an error."""
    assert (done.returncode, done.stdout) == (code, ""), done
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("bw: ")
    return line


@pytest.fixture
def graded(bw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Grades two references under a scripted scheduler, with options."""
    factory = ScriptedFactory()
    monkeypatch.setattr("benchwright.app.grading.LocalScheduler", factory)
    private_home(tmp_path / "home")
    samples = write_samples(tmp_path / "in.jsonl", references(2))

    def grade(*options: object, **variables: str) -> Done:
        ids = "Starter/0,Starter/1"
        return bw("grade", "starter", samples, "--ids", ids, "--model", "m", "--out", "out", *options, **variables)

    return grade


def test_a_grading_is_recorded_and_says_so(graded: Run, bw: Run, tmp_path: Path) -> None:
    """`stored` is the entry; the same grading again, and a regrading that changes nothing, are that entry."""
    entry = json_of(graded("--json"))["stored"]
    assert (tmp_path / "home/results/runs" / entry).is_dir()
    assert json_of(graded("--json"))["stored"] == entry
    assert json_of(bw("regrade", "out", "--json"))["stored"] == entry
    assert f"bw results show {entry[:12]}" in graded().stdout
    (listed,) = json_of(bw("results", "list", "--json"))["runs"]
    assert (listed["entry"], listed["problems"], listed["whole"], listed["partial"]) == (entry, 2, 32, True)
    assert "│ 2 of 32" in bw("results", "list").stdout
    shown = json_of(bw("results", "show", "m", "--json"))
    assert (shown["entry"], shown["manifest"]["model"], shown["solved"]) == (entry, "m", 2)
    assert json_of(bw("results", "show", "out", "--json"))["entry"] == entry


def test_a_store_can_be_named_or_left_out(graded: Run, tmp_path: Path) -> None:
    """By option, by variable, or not at all; both options together are refused before anything runs."""
    assert json_of(graded("--no-store", "--json"))["stored"] is None
    assert not (tmp_path / "home/results").exists()
    assert json_of(graded("--json", BENCHWRIGHT_STORE=str(tmp_path / "named")))["stored"]
    assert len(list((tmp_path / "named/runs").iterdir())) == 1
    assert json_of(graded("--json", "--store", tmp_path / "option"))["stored"]
    assert "contradict each other" in sentence(graded("--no-store", "--store", "x"))


def test_a_store_that_cannot_be_used_is_found_out_first(graded: Run, tmp_path: Path) -> None:
    """A folder with other things, and a store of a newer version, are refused before hours of work."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    assert "is no store of results" in sentence(graded("--store", tmp_path / "mine"))
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer/store.json").write_text('{"schema": 2}')
    assert "has schema 2" in sentence(graded("--store", tmp_path / "newer"))
    assert not (tmp_path / "out").exists()


def test_a_command_that_is_refused_makes_no_store(bw: Run, tmp_path: Path) -> None:
    """Only a finished result brings a store into being."""
    private_home(tmp_path / "home")
    assert "nowhere.jsonl" in sentence(bw("grade", "starter", "nowhere.jsonl"))
    assert not (tmp_path / "home/results").exists()


def test_results_are_shown_although_recording_fails(graded: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The object has everything but the entry, and the command ends with 3 and the reason."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("benchwright.store.results.flush", full)
    done = graded("--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["stored"] is None
    assert "are complete, but were not recorded in the store: Recording the run failed (No space left" in done.stderr


def test_runs_are_listed(bw: Run, store: Path) -> None:
    """All that count, hostile names on one line each and whole in the JSON; filters choose."""
    done = bw("results", "list")
    assert done.returncode == 0
    assert "sparrow" in done.stdout
    assert "pass@1 61.1 %" in done.stdout
    assert "\x1b" not in done.stdout
    assert "two\\nlines\\tand \\x1b[31mred" in done.stdout
    found = json_of(bw("results", "list", "--json"))
    assert {one["model"] for one in found["runs"]} == {"sparrow", "stated", *HOSTILE_NAMES}
    assert found["damaged"] == []
    chosen = json_of(bw("results", "list", "--model", "sparrow", "--json"))["runs"]
    assert [(one["model"], one["solved"], one["scores"]) for one in chosen] == [("sparrow", 1, ["calibrated"])]
    assert "There is no benchmark in the store named 'none'" in sentence(bw("results", "list", "--benchmark", "none"))
    assert "There is no store of results in nowhere" in sentence(bw("results", "list", "--store", "nowhere"))
    assert "There are no such runs" in bw("results", "list", BENCHWRIGHT_STORE="nowhere").stdout


def test_one_run_is_shown(bw: Run, store: Path) -> None:
    """By id, name or folder; an unknown or ambiguous name is one sentence."""
    entry = json_of(bw("results", "show", "sparrow", "--json"))["entry"]
    done = bw("results", "show", entry[:8])
    assert f"entry:        {entry}" in done.stdout
    assert "solved:       1 of 2 (calibrated)" in done.stdout
    assert "not recorded" in bw("results", "show", OLD).stdout
    assert "did you mean sparrow" in sentence(bw("results", "show", "sparow"))


def test_queries_have_every_form(bw: Run, store: Path, tmp_path: Path) -> None:
    """A table, one object, CSV or a Parquet file; wrong SQL is one sentence and code 2."""
    sql = "SELECT model, count(*) AS n, sum(cost) AS c FROM runs JOIN rows USING (entry) GROUP BY 1"
    sql += " HAVING model = 'sparrow'"
    assert json_of(bw("results", "query", sql, "--json")) == {
        "columns": ["model", "n", "c"],
        "rows": [["sparrow", 2, None]],
        "damaged": [],
    }
    assert bw("results", "query", sql, "--csv").stdout == "model,n,c\nsparrow,2,\n"
    assert "sparrow" in bw("results", "query", sql).stdout
    assert "1 rows written" in bw("results", "query", sql, "--parquet", tmp_path / "x.parquet").stdout
    assert pq.read_table(tmp_path / "x.parquet").to_pylist() == [{"model": "sparrow", "n": 2, "c": None}]
    rows = list(csv.reader(io.StringIO(bw("results", "query", "SELECT model FROM runs", "--csv").stdout)))
    assert len(rows) == len(HOSTILE_NAMES) + 3
    assert "The query cannot be answered: Parser Error" in sentence(bw("results", "query", "SELEC"))
    assert "Expected one SELECT" in sentence(bw("results", "query", "DROP TABLE runs"))
    assert "--csv and --json" in sentence(bw("results", "query", sql, "--csv", "--json"))
    assert sentence(bw("results", "query", sql, "--parquet", tmp_path / "no/x.parquet"), 3)


@pytest.mark.parametrize("sql", ["SELECT INTERVAL 1 DAY AS x", "SELECT union_value(a := 1) AS x"])
def test_a_parquet_file_is_unharmed_when_the_answer_has_no_such_form(
    bw: Run, store: Path, tmp_path: Path, sql: str
) -> None:
    """What Parquet has no type for is one sentence; the file of an earlier answer, or its link, stays as it was."""
    (tmp_path / "real.parquet").write_bytes(b"earlier")
    (tmp_path / "x.parquet").symlink_to("real.parquet")
    assert "CAST(x AS VARCHAR)" in sentence(bw("results", "query", sql, "--parquet", "x.parquet"))
    assert (tmp_path / "real.parquet").read_bytes() == b"earlier"
    assert bw("results", "query", "SELECT 1 AS n", "--parquet", "x.parquet").returncode == 0
    assert pq.read_table(tmp_path / "real.parquet").to_pylist() == [{"n": 1}]
    assert (tmp_path / "x.parquet").is_symlink()


def test_a_parquet_file_goes_through_a_device(bw: Run, store: Path, tmp_path: Path) -> None:
    """What is no file, such as /dev/stdout, is written to and not replaced."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert bw("results", "query", "SELECT 1 AS n", "--parquet", "pipe").returncode == 0
        assert os.read(reader, 4) == b"PAR1"
    finally:
        os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("form", [(), ("--csv",), ("--json",)])
@pytest.mark.parametrize(
    "value", ["DATE 'infinity'", "TIMESTAMP 'infinity'", "DATE '294247-01-01'", "[DATE 'infinity']"]
)
def test_dates_that_python_lacks_are_one_sentence(bw: Run, store: Path, value: str, form: tuple[str, ...]) -> None:
    """The column is named, and how to see the value; as text it is answered."""
    assert "Column x holds a value that cannot be shown" in sentence(
        bw("results", "query", f"SELECT {value} AS x", *form)
    )
    done = bw("results", "query", f"SELECT CAST({value} AS VARCHAR) AS x", *form)
    assert done.returncode == 0
    assert "infinity" in done.stdout or "294247" in done.stdout


def test_an_answer_too_wide_for_a_table_is_shown_row_by_row(bw: Run, store: Path) -> None:
    """Each row is a block with a line for each column; no cell is broken in pieces, and few rows are shown."""
    done = bw("results", "query", "SELECT * FROM rows WHERE problem_id = 'p/0' ORDER BY entry")
    lines = done.stdout.splitlines()
    assert lines[:3] == [f"{len(HOSTILE_NAMES) + 1} rows", "", "problem_id         p/0"]
    assert lines.count("outcome            passed") == len(HOSTILE_NAMES) + 1
    assert "│" not in done.stdout
    many = bw("results", "query", "SELECT *, unnest(range(3)) AS number FROM rows")
    assert many.stdout.count("problem_id ") == 20
    assert many.stdout.endswith("… and 34 more rows; --csv prints and --parquet writes all of them.\n")
    assert "│" in bw("results", "query", "SELECT problem_id, outcome FROM rows").stdout


def test_a_store_is_exported_and_imported(bw: Run, store: Path, tmp_path: Path) -> None:
    """All of it or the runs that are named; a second time there is nothing to do."""
    done = json_of(bw("store", "export", tmp_path / "place", "--json"))
    assert (len(done["entries"]), done["there_before"]) == (len(HOSTILE_NAMES) + 2, 0)
    assert "1 run exported" in bw("store", "export", tmp_path / "one", "sparrow").stdout
    other = {"BENCHWRIGHT_STORE": str(tmp_path / "other")}
    found = json_of(bw("store", "import", tmp_path / "place", "--json", **other))
    assert (found["kind"], found["new"], found["there_before"]) == ("export", len(HOSTILE_NAMES) + 2, 0)
    assert {one["model"] for one in found["runs"]} == {"sparrow", "stated", *HOSTILE_NAMES}
    assert "0 runs imported, 10 were there already" in bw("store", "import", tmp_path / "place", **other).stdout
    assert bw("store", "verify", **other).returncode == 0
    assert "says everything itself" in sentence(bw("store", "import", tmp_path / "place", "--model", "x"))
    assert "There are no runs" in sentence(bw("store", "export", "x", BENCHWRIGHT_STORE=str(tmp_path / "none")))
    assert "are for bundles" in sentence(bw("store", "export", tmp_path / "place", "--with-logs"))


def test_looking_at_an_export_makes_no_store_of_it(bw: Run, store: Path, tmp_path: Path) -> None:
    """Runs of an export are listed, shown and checked where they are, and more can be exported to it afterwards."""
    place = tmp_path / "place"
    assert "1 run exported" in bw("store", "export", place, "stated").stdout
    assert "stated" in bw("results", "list", "--store", place).stdout
    assert json_of(bw("results", "query", "SELECT model FROM runs", "--json", "--store", place))["rows"] == [["stated"]]
    assert json_of(bw("store", "verify", "--json", "--store", place))["sound"]
    assert "1 run exported" in bw("store", "export", place, "sparrow").stdout


def test_a_results_folder_is_imported(bw: Run, tmp_path: Path) -> None:
    """What was graded without a store, by an earlier version too, is recorded; an unfinished one is not."""
    found = json_of(bw("store", "import", OLD, "--json"))
    assert (found["kind"], found["new"], found["runs"][0]["model"]) == ("folder", 1, "birch")
    assert json_of(bw("store", "import", OLD, "--json"))["there_before"] == 1
    shutil.copytree(OLD, tmp_path / "half")
    manifest = json.loads((OLD / "manifest.json").read_text())
    (tmp_path / "half/manifest.json").write_text(json.dumps(manifest | {"status": "running"}))
    assert "is not finished" in sentence(bw("store", "import", tmp_path / "half"))


def test_results_of_others_are_imported(bw: Run, tmp_path: Path) -> None:
    """A public leaderboard is told by its content; a dry run writes nothing."""
    path = tmp_path / "leaderboard-full.json"
    models = {f"m{n}": {"pass@1": {"complete": 61.1, "instruct": 51.1}} for n in range(2)}
    path.write_text(json.dumps(models), encoding="utf-8")
    assert "4 runs would be imported" in bw("store", "import", path, "--dry-run").stdout
    assert not (tmp_path / "home/results").exists()
    found = json_of(bw("store", "import", path, "--json"))
    assert (found["kind"], found["new"], found["stored"]) == ("bigcodebench-leaderboard", 4, True)
    assert json_of(bw("store", "import", path, "--json"))["there_before"] == 4
    assert "0 runs imported, 4 were there already." in bw("store", "import", path).stdout
    assert sentence(bw("store", "import", tmp_path / "nothing.json"))


def test_damage_ends_with_one(bw: Run, store: Path) -> None:
    """Every damage is a line; other runs are listed, and a damaged entry is told on standard error."""
    entry = json_of(bw("results", "show", "sparrow", "--json"))["entry"]
    path = store / "runs" / entry / "entry.json"
    path.write_text(path.read_text()[:-40])
    (store / "index.sqlite").write_bytes(b"broken")
    done = bw("results", "list")
    assert (done.returncode, "sparrow" in done.stdout, "stated" in done.stdout) == (0, False, True)
    assert f"Run {entry[:12]} of the store is left out" in done.stderr
    found = json_of(bw("store", "verify", "--json"), 1)
    assert (found["sound"], len(found["damage"]), found["runs"]) == (False, 1, len(HOSTILE_NAMES) + 2)
    assert "1 thing damaged" in bw("store", "verify").stdout
    assert "There is no store of results" in sentence(bw("store", "verify", "--store", "nowhere"))


def test_a_damaged_run_does_not_hold_up_the_others(bw: Run, store: Path, tmp_path: Path) -> None:
    """An export and an import leave it out, name it and end with 1; queries say on standard error that it is absent."""
    entry = json_of(bw("results", "show", "sparrow", "--json"))["entry"]
    exported = json_of(bw("store", "export", tmp_path / "whole", "--json"))
    for place in (store, tmp_path / "whole"):
        path = place / "runs" / entry / "rows.parquet"
        path.write_bytes(path.read_bytes()[:-1])
    done = json_of(bw("store", "export", tmp_path / "place", "--json"), 1)
    assert (len(done["entries"]), len(done["problems"])) == (len(exported["entries"]) - 1, 1)
    done = bw("store", "export", tmp_path / "place")
    assert (done.returncode, done.stdout.count("left out: rows.parquet of run")) == (1, 1)
    sql = "SELECT count(*) AS n FROM rows"
    found = json_of(bw("results", "query", sql, "--json"))
    assert found["rows"] == [[2 * len(HOSTILE_NAMES)]]
    assert len(found["damaged"]) == 1
    done = bw("results", "query", sql, "--csv")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "n")
    assert f"bw: rows.parquet of run {entry[:12]} (sparrow)" in done.stderr
    done = bw("store", "import", tmp_path / "whole", BENCHWRIGHT_STORE=str(tmp_path / "other"))
    assert (done.returncode, done.stdout.count(f"left out: Run {entry[:12]}")) == (1, 1)


def test_cleaning_says_what_went(bw: Run, store: Path) -> None:
    """A dry run removes nothing."""
    half = store / "runs" / ("0" * 64)
    half.mkdir()
    (half / "rows.parquet").write_bytes(b"x")
    assert json_of(bw("store", "gc", "--dry-run", "--json"))["stages"] == 1
    assert half.exists()
    assert "removed: half-written entries 1," in bw("store", "gc").stdout
    assert not half.exists()


def test_listing_loads_nothing_that_takes_long(store: Path, tmp_path: Path) -> None:
    """Neither Arrow nor DuckDB nor numpy is imported to list runs; the process ends well with nothing to read from."""
    program = (
        "import sys\nsys.argv = ['bw', 'results', 'list', '--json']\nfrom benchwright.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n"
        "    heavy = {'pyarrow', 'duckdb', 'numpy', 'scipy', 'pandas', 'fsspec', 'inspect_ai', 'rich'}\n"
        "    print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))"
    )
    environment = {**os.environ, "BENCHWRIGHT_HOME": str(tmp_path / "home")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    listed, loaded = done.stdout.splitlines()
    assert len(json.loads(listed)["runs"]) == len(HOSTILE_NAMES) + 2
    assert loaded == "[]"
    assert start_bw(tmp_path, "results", "list").returncode == 0


def test_an_import_beside_an_own_run_is_said(bw: Run, store: Path, tmp_path: Path) -> None:
    """The note names the entry that does not count; --take-over makes it count, and is for our own forms alone."""
    other = tmp_path / "other"
    better = [dataclasses.replace(one, verdict=TWO[0].verdict) for one in TWO]
    bw("store", "export", tmp_path / "place", "sparrow")
    bw("store", "import", tmp_path / "place", "--store", other)
    with ResultStore(other) as far:
        newer = far.add(run("r1", "sparrow", better), better, {})
    bw("store", "export", tmp_path / "back", "--store", other)
    found = json_of(bw("store", "import", tmp_path / "back", "--json"))
    (note,) = found["notes"]
    assert note.startswith(f"Run {newer.entry[:12]} does not count: this store has recorded the same run itself.")
    assert json_of(bw("results", "show", "sparrow", "--json"))["entry"] != newer.entry
    bw("store", "import", tmp_path / "back", "--take-over")
    assert json_of(bw("results", "show", "sparrow", "--json"))["entry"] == newer.entry
    assert "neither" in sentence(bw("store", "import", tmp_path / "x.jsonl", "--take-over"))


def test_a_query_that_does_not_stop_ends_the_program(bw: Run, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends with 130 and one line, without waiting for the query."""

    def stuck(*_: object, **__: object) -> None:
        raise QueryStuck

    def ended(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr("benchwright.app.store_query.query", stuck)
    monkeypatch.setattr("os._exit", ended)
    assert sentence(bw("results", "query", "SELECT 1"), 130) == "bw: Interrupted."
