"""SQL over a store: what was recorded can be asked for, and nothing else reached."""

import dataclasses
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from entry_pieces import HOSTILE_NAMES, TWO, reported, row, rows_of, run

from benchwright.core.errors import UsageError
from benchwright.core.results import ProblemFacts
from benchwright.core.verdicts import Outcome, Reason
from benchwright.judging.imported import imported_verdict
from benchwright.store.frames import frame_of
from benchwright.store.query import QueryStuck, _interruptible, query
from benchwright.store.results import ResultStore

FACTS = [ProblemFacts(id=f"p/{n}", domains=("Time", "System")[: n + 1], libraries=("os",)) for n in range(2)]
LINES = "".join(json.dumps(one.to_plain()) + "\n" for one in FACTS).encode()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ResultStore]:
    """Two graded runs of the same problems, one regraded, and one of scores alone."""
    better = rows_of([Outcome.PASSED, Outcome.PASSED])
    with ResultStore(tmp_path / "s") as opened:
        opened.add(run("r1"), TWO, {"problems.jsonl": LINES})
        opened.add(run("r1", rows=better), better, {"problems.jsonl": LINES})
        opened.add(run("r2", HOSTILE_NAMES[5]), TWO, {"problems.jsonl": LINES})
        opened.add(reported("said"), [], {})
        yield opened


def test_runs_rows_and_problems_are_joined(store: ResultStore) -> None:
    """Rows know their entry, runs their model and scores, problems their domains; superseded entries are left out."""
    sql = """
        SELECT model, d.domain, sum((outcome = 'passed')::int) AS passed, count(*) AS n
        FROM rows JOIN runs USING (entry)
        JOIN (SELECT benchmark, problem_id, unnest(domains) AS domain FROM problems) d USING (benchmark, problem_id)
        GROUP BY ALL ORDER BY ALL
    """
    assert [tuple(line.values()) for line in query(store, sql).to_pylist()] == [
        ("lone \\ud800 surrogate", "System", 0, 1),
        ("lone \\ud800 surrogate", "Time", 1, 2),
        ("m", "System", 1, 1),
        ("m", "Time", 2, 2),
    ]
    assert query(store, "SELECT count(*) AS n FROM runs").to_pylist() == [{"n": 3}]
    assert query(store, "SELECT count(*) AS n FROM runs", superseded=True).to_pylist() == [{"n": 4}]
    stated = query(store, "SELECT reported[1].value AS v FROM runs WHERE origin = 'imported'").to_pylist()
    assert stated == [{"v": 0.611}]


def test_what_a_source_does_not_say_is_null(tmp_path: Path) -> None:
    """Tests, times and memory of imported rows are no zeros in SQL and frames; rows read back have none missing."""
    silent = imported_verdict(Outcome.FAILED, Reason.NOT_STATED, "fail")
    counted = imported_verdict(Outcome.FAILED, Reason.NOT_STATED, "fail", planned=2)
    rows = [
        dataclasses.replace(row("p/0"), verdict=silent),
        dataclasses.replace(row("p/1", wall_seconds=1.5), verdict=counted),
        row("p/2"),
    ]
    sql = (
        "SELECT tests_planned, tests_passed, wall_seconds, cpu_seconds, memory_peak_bytes FROM rows ORDER BY problem_id"
    )
    with ResultStore(tmp_path) as store:
        stored = store.add(run(rows=rows), rows, {})
        expected = [(None,) * 5, (2, 0, 1.5, None, None), (2, 2, 0, 0, 0)]
        assert [tuple(line.values()) for line in query(store, sql).to_pylist()] == expected
        assert frame_of(store, [stored])["wall_seconds"].to_pylist() == [None, 1.5, 0]
        assert list(store.rows(stored.entry)) == rows


def test_an_empty_store_has_empty_views(tmp_path: Path) -> None:
    """The views and their columns are there before anything is recorded."""
    with ResultStore(tmp_path) as store:
        sql = "SELECT * FROM rows JOIN runs USING (entry) JOIN problems USING (benchmark, problem_id)"
        assert query(store, sql).num_rows == 0


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELEC 1", "syntax error"),
        ("SELECT nothing FROM rows", '"nothing" not found'),
        ("SELECT 1; SELECT 2", "Expected one SELECT"),
        ("", "Expected one SELECT"),
        ("CREATE TABLE t AS SELECT 1", "Expected one SELECT"),
        ("COPY runs TO 'stolen.csv'", "Expected one SELECT"),
        ("ATTACH 'other.db'", "Expected one SELECT"),
        ("INSTALL httpfs", "Expected one SELECT"),
        ("SET enable_external_access = true", "Expected one SELECT"),
        ("SELECT * FROM read_csv('/etc/hostname')", "cannot be answered"),
        ("SELECT * FROM '/etc/hostname'", "cannot be answered"),
        ("SELECT * FROM read_text('/etc/hostname')", "cannot be answered"),
        ("SELECT * FROM glob('/etc/*')", "cannot be answered"),
        ("SELECT * FROM read_parquet('https://example.org/x.parquet')", "cannot be answered"),
        ("SELECT * FROM TWO", "cannot be answered"),
    ],
)
def test_everything_else_is_refused_in_one_sentence(
    store: ResultStore, sql: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong SQL, other statements, files, addresses and variables of the program: nothing of it gets anywhere."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=words) as caught:
        query(store, sql)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_a_damaged_run_is_left_out_and_named(store: ResultStore) -> None:
    """One cut or changed file of rows, or of facts, costs its own run alone; `damaged` has the sentence."""
    (one, other) = [found for found in store.runs() if found.scores]
    path = store.layout.rows(one.entry)
    whole = path.read_bytes()
    count = "SELECT entry, count(*)::int AS n FROM rows GROUP BY 1"
    for content in (b"PAR1", whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]):
        path.write_bytes(content)
        assert query(store, count).to_pylist() == [{"entry": other.entry, "n": 2}]
        assert f"rows.parquet of run {one.entry[:12]}" in store.damaged[one.entry]
        assert [scored.run for scored in store.scored([one, other], skip_damaged=True)] == [other]
        with pytest.raises(UsageError, match=r"rows\.parquet of run .* is missing or damaged"):
            store.scored([one, other])
        assert frame_of(store, [one, other], skip_damaged=True).num_rows == 2
        with pytest.raises(UsageError, match="missing or damaged"):
            frame_of(store, [one, other])
        with pytest.raises(UsageError, match="missing or damaged"):
            list(store.rows(one.entry))
    assert query(store, "SELECT count(*)::int AS n FROM runs").to_pylist() == [{"n": 3}]
    path.write_bytes(whole)
    assert query(store, count).num_rows == 2
    assert store.damaged == {}
    store.layout.blob(one.files["problems.jsonl"]).unlink()
    assert query(store, "SELECT count(*)::int AS n FROM problems").to_pylist() == [{"n": 0}]
    assert "problems.jsonl" in store.damaged[one.entry]


def test_a_query_without_end_ends_by_ctrl_c(store: ResultStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recursion that the engine would never leave is left as soon as the signal comes."""
    asked, ended = threading.Event(), []

    def press(connection: Any, sql: str) -> Any:
        """Ctrl-C once the query is on its way: a signal that comes before may be swallowed by another library."""
        asked.set()
        return _interruptible(connection, sql)

    def signals() -> None:
        asked.wait(60)
        time.sleep(0.3)
        ended.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("benchwright.store.query._interruptible", press)
    presser = threading.Thread(target=signals)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        query(store, "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t")
    left = time.monotonic()
    presser.join()
    assert left - ended[0] < 5


def test_a_query_that_does_not_listen_is_told_to_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the engine does not stop within a second, the process must, which the caller is told."""
    monkeypatch.setattr("benchwright.store.query._PATIENCE_SECONDS", 0.05)
    never = threading.Event()

    class Deaf:
        def sql(self, _: str) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            never.wait(30)

        def interrupt(self) -> None:
            pass

    with pytest.raises(QueryStuck):
        _interruptible(Deaf(), "SELECT 1")  # type: ignore[arg-type]
    never.set()
