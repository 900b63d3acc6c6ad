"""SQL over a store: what was recorded can be asked for, and nothing else reached."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from entry_pieces import HOSTILE_NAMES, TWO, reported, rows_of, run

from benchwright.core.errors import UsageError
from benchwright.core.results import ProblemFacts
from benchwright.core.verdicts import Outcome
from benchwright.store.query import query
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


def test_damaged_rows_are_a_sentence(store: ResultStore) -> None:
    """A file of rows that is not whole is named by the error, not by a traceback."""
    (one, *_) = [found for found in store.runs() if found.scores]
    store.layout.rows(one.entry).write_bytes(b"PAR1")
    with pytest.raises(UsageError, match="cannot be answered"):
        query(store, "SELECT count(detail) FROM rows")
