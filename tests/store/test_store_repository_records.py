"""The record store's tables for repository problems."""

import dataclasses
import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.errors import UsageError
from benchwright.core.execution import ExecutionRecord, ExitCause, TestOutcome
from benchwright.core.repositories import (
    ControlSummary,
    Edit,
    Inversion,
    RepositoryControls,
    RepositoryRecord,
    SessionReport,
    Step,
    TestReport,
)
from benchwright.store.records import SCHEMA_VERSION, RecordStore

SCHEMA_1 = """
CREATE TABLE records (digest TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE controls (
    environment TEXT NOT NULL, guest TEXT NOT NULL, problem TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (environment, guest, problem)
) WITHOUT ROWID;
PRAGMA user_version = 1;
"""
"""The store as version 1 made it."""


def step(**changes: Any) -> Step:
    """A step of a run."""
    values: dict[str, Any] = {
        "name": "tests",
        "exit_cause": ExitCause.EXITED,
        "exit_status": 1,
        "wall_seconds": 1.5,
        "cpu_seconds": 1.0,
        "memory_peak_bytes": 7,
        "output": "ä€😀\ud800\\xff\r\n\0",
        "output_total_bytes": 20,
    }
    return Step(**{**values, **changes})


def record(digest: str = "d", **changes: Any) -> RepositoryRecord:
    """A record with something in every field."""
    values: dict[str, Any] = {
        "job_digest": digest,
        "patch_applied": True,
        "patch_message": "with other line ends",
        "dropped": (Edit(path="conftest.py", why="it is the runner's"),),
        "steps": (step(name="install", exit_cause=ExitCause.FINISHED, exit_status=0), step()),
        "sessions": (
            SessionReport(
                session=0, runner="pytest", version="8", root="/testbed", closed=True, exit_status=1, tests=2
            ),
        ),
        "reports": (
            TestReport(session=0, id="t.py::a", names=("t.py::a", "a"), outcome=TestOutcome.PASSED),
            TestReport(session=0, id="t.py::b", names=("t.py::b",), outcome=TestOutcome.FAILED, detail="1 != 2"),
        ),
        "report_errors": ("a line that is none",),
        "inversion": Inversion(sabotaged=("t.py::a",), passed=(), exit_cause=ExitCause.EXITED, wall_seconds=1.0),
        "facts": (("kernel", "6"),),
        "attempts": 2,
    }
    return RepositoryRecord(**{**values, **changes})


def summary(*, resolved: bool = True) -> ControlSummary:
    """One control run."""
    return ControlSummary(
        resolved=resolved,
        reason="all_tests_passed" if resolved else "tests_failed",
        detail="",
        exit_cause=ExitCause.FINISHED if resolved else None,
        exit_status=0 if resolved else None,
        not_passed=() if resolved else ("a",),
        accepted=("s",),
        unreported=(),
        inverted=("a",),
        wall_seconds=1.0,
        cpu_seconds=0.5,
        memory_peak_bytes=3,
    )


def controls(**changes: Any) -> RepositoryControls:
    """Control runs of an instance."""
    values: dict[str, Any] = {
        "problem_id": "p-1",
        "problem_digest": "p",
        "environment": "e",
        "sandbox": "namespace",
        "harness_version": 1,
        "reference": (summary(), summary()),
        "empty": (summary(resolved=False),),
    }
    return RepositoryControls(**{**values, **changes})


def test_a_record_comes_back(tmp_path: Path) -> None:
    """With every field, also after the store was closed; lone surrogates of a log included."""
    full, bare = record(), RepositoryRecord(job_digest="bare", patch_applied=False)
    with RecordStore(tmp_path / "r.sqlite") as store:
        store.put_repository(full)
        store.put_repository(bare)
    with RecordStore(tmp_path / "r.sqlite") as store:
        assert store.get_repository("d") == full
        assert store.get_repository("bare") == bare
        assert store.get_repository("other") is None


def test_the_first_record_of_a_job_stays(tmp_path: Path) -> None:
    """Two gradings of one patch report the same evidence, whoever was faster."""
    with RecordStore(tmp_path / "r.sqlite") as store:
        store.put_repository(record(attempts=1))
        store.put_repository(record(attempts=2))
        found = store.get_repository("d")
    assert found is not None
    assert found.attempts == 1


def test_records_of_both_kinds_are_apart(tmp_path: Path) -> None:
    """A digest of one kind of job is none of the other's."""
    function = ExecutionRecord(job_digest="d", exit_cause=ExitCause.FINISHED)
    with RecordStore(tmp_path / "r.sqlite") as store:
        store.put_repository(record())
        assert store.get("d") is None
        assert store.known(["d"]) == set()
        store.put(function)
        assert store.get("d") == function
        assert store.get_repository("d") == record()


def test_control_runs_come_back_by_their_whole_key(tmp_path: Path) -> None:
    """Environment, sandbox, version of the harness and row: controls of another are none of this one."""
    with RecordStore(tmp_path / "r.sqlite") as store:
        store.put_repository_controls(controls())
    with RecordStore(tmp_path / "r.sqlite") as store:
        assert store.repository_controls("e", "namespace", 1, "p") == controls()
        for other in (
            ("f", "namespace", 1, "p"),
            ("e", "docker", 1, "p"),
            ("e", "namespace", 2, "p"),
            ("e", "namespace", 1, "q"),
        ):
            assert store.repository_controls(*other) is None


def test_newer_control_runs_replace_older_ones(tmp_path: Path) -> None:
    """Of the same key; those of another stay."""
    newer = controls(reference=(summary(resolved=False),))
    other = controls(environment="other")
    with RecordStore(tmp_path / "r.sqlite") as store:
        for one in (controls(), other, newer):
            store.put_repository_controls(one)
        assert store.repository_controls("e", "namespace", 1, "p") == newer
        assert store.repository_controls("other", "namespace", 1, "p") == other


def test_a_store_of_version_1_gets_the_new_tables(tmp_path: Path) -> None:
    """What is in it stays, and the version is raised."""
    path = tmp_path / "r.sqlite"
    old = ExecutionRecord(job_digest="old", exit_cause=ExitCause.FINISHED)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA_1)
        body = zlib.compress(json.dumps(old.to_plain()).encode())
        connection.execute("INSERT INTO records VALUES ('old', ?)", (body,))
        connection.commit()
    with RecordStore(path) as store:
        assert store.get("old") == old
        assert store.get_repository("d") is None
        store.put_repository(record())
        store.put_repository_controls(controls())
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    with RecordStore(path) as store:
        assert store.get_repository("d") == record()


def without(plain: dict[str, Any], name: str) -> bytes:
    """A stored body that lacks a field."""
    return zlib.compress(json.dumps({key: value for key, value in plain.items() if key != name}).encode())


PLAIN = record().to_plain()


@pytest.mark.parametrize(
    "body",
    [
        b"\x00\x11\x22",
        zlib.compress(b"{"),
        zlib.compress(b"[]"),
        without(PLAIN, "job_digest"),
        without(PLAIN, "steps"),
        zlib.compress(json.dumps({**PLAIN, "steps": [{"name": "tests"}]}).encode()),
        zlib.compress(json.dumps({**PLAIN, "reports": [{**PLAIN["reports"][0], "outcome": "good"}]}).encode()),
        zlib.compress(json.dumps({**PLAIN, "more": 1}).encode()),
        zlib.compress(json.dumps({**PLAIN, "job_digest": "another"}).encode()),
    ],
    ids=["not packed", "no JSON", "list", "no id", "no steps", "bad step", "bad outcome", "more", "another's"],
)
def test_a_damaged_record_is_refused(tmp_path: Path, body: bytes) -> None:
    """It is one sentence that says what to do, and never a record."""
    with RecordStore(tmp_path / "r.sqlite") as store:
        store.put_repository(record())
        store._connection.execute("UPDATE repository_records SET body = ?", (body,))
        with pytest.raises(UsageError, match=r"is damaged .* move it away"):
            store.get_repository("d")


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '{"problem_id": "p"}'])
def test_damaged_control_runs_are_refused(tmp_path: Path, body: str) -> None:
    """As records are."""
    with RecordStore(tmp_path / "r.sqlite") as store:
        store.put_repository_controls(controls())
        store._connection.execute("UPDATE repository_controls SET body = ?", (body,))
        with pytest.raises(UsageError, match=r"is damaged .* move it away"):
            store.repository_controls("e", "namespace", 1, "p")


def test_a_record_of_a_lost_run_is_one_too(tmp_path: Path) -> None:
    """Whoever keeps it gets back that there is no evidence, and why."""
    lost = dataclasses.replace(record(), steps=(), reports=(), inversion=None, lost_reason="it broke")
    with RecordStore(tmp_path / "r.sqlite") as store:
        store.put_repository(lost)
        assert store.get_repository("d") == lost
