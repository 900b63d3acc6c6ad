"""The record store: what was put is there, whoever else writes, and whatever dies."""

import random
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.controls import ControlOutcome, ControlRun
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.execution import ExecutionRecord, ExitCause, TestOutcome, TestResult
from benchwright.store.records import SCHEMA_VERSION, RecordStore

WRITER = """
import sys
from pathlib import Path
from benchwright.core.execution import ExecutionRecord, ExitCause
from benchwright.store.records import RecordStore
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with RecordStore(path) as store:
    for number in range(count):
        digest = f"{name}-{number}"
        store.put(ExecutionRecord(job_digest=digest, exit_cause=ExitCause.FINISHED, output="x" * 500))
        print(digest, flush=True)
"""


def record(digest: str = "d", **changes: Any) -> ExecutionRecord:
    """A record with changes."""
    values: dict[str, Any] = {"job_digest": digest, "exit_cause": ExitCause.FINISHED, **changes}
    return ExecutionRecord(**values)


def control(problem: str = "p", *, guest: str = "g", environment: str = "e", outcome: str = "passed") -> ControlRun:
    """A control run."""
    one = ControlOutcome(
        outcome=outcome, reason="r", detail="d", wall_seconds=1.0, cpu_seconds=0.5, memory_peak_bytes=7
    )
    return ControlRun(
        problem_id=f"id of {problem}",
        problem_digest=problem,
        environment=environment,
        guest_version=guest,
        references=(one, one),
        stubs=(one,),
        needs_network=False,
    )


def test_what_was_put_comes_back(tmp_path: Path) -> None:
    """A record survives closing the store, with every field."""
    full = record(
        tests=(TestResult(id="a", outcome=TestOutcome.ERROR, seconds=0.5, exception="E", message="m\ud800"),),
        interference=("x",),
        facts=(("a", "b"),),
        output="ä€😀\ud800\0",
        attempts=2,
    )
    with RecordStore(tmp_path / "deep" / "er" / "records.sqlite") as store:
        store.put(full)
        assert store.get("d") == full
    with RecordStore(tmp_path / "deep" / "er" / "records.sqlite") as store:
        assert store.get("d") == full
        assert store.get("other") is None


def test_the_first_record_of_a_job_stays(tmp_path: Path) -> None:
    """One job has one record, also when two gradings execute it at the same time."""
    with RecordStore(tmp_path / "r.sqlite") as store:
        store.put(record(attempts=1))
        store.put(record(attempts=2))
        found = store.get("d")
    assert found is not None
    assert found.attempts == 1


@given(st.sets(st.integers(0, 3000), max_size=1500), st.sets(st.integers(0, 3000), max_size=1500))
def test_known_tells_which_jobs_have_records(asked: set[int], there: set[int]) -> None:
    """`known` is the intersection, for any number of digests."""
    with RecordStore(Path(":memory:")) as store:
        store._connection.executemany("INSERT INTO records VALUES (?, 'x')", [(str(n),) for n in there])
        assert store.known(str(n) for n in asked) == {str(n) for n in asked & there}


def test_control_runs_are_kept_per_environment(tmp_path: Path) -> None:
    """A newer control run replaces the older; other environments have their own."""
    with RecordStore(tmp_path / "r.sqlite") as store:
        for one in (control("p", outcome="failed"), control("p"), control("q"), control("p", environment="other")):
            store.put_control(one)
        assert store.controls("e", "g") == {"p": control("p"), "q": control("q")}
        assert store.controls("nowhere", "g") == {}


def test_control_runs_of_this_guest_come_before_older_ones(tmp_path: Path) -> None:
    """Control runs of an earlier guest version count only where there is none of this one."""
    with RecordStore(tmp_path / "r.sqlite") as store:
        for one in (control("p", guest="new"), control("p", guest="old"), control("q", guest="old")):
            store.put_control(one)
        found = store.controls("e", "new")
    assert {problem: run.guest_version for problem, run in found.items()} == {"p": "new", "q": "old"}


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    """Writers that start together on a new file wait for each other; nothing is lost."""
    path = tmp_path / "r.sqlite"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, path, f"w{n}", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for n in range(4)
    ]
    for writer in writers:
        _, errors = writer.communicate()
        assert writer.returncode == 0, errors.decode()
    with RecordStore(path) as store:
        wanted = {f"w{n}-{number}" for n in range(4) for number in range(60)}
        assert store.known(wanted) == wanted
        assert store.get("w3-59") is not None


@pytest.mark.parametrize("patience", [30.0, 0.05])
def test_a_new_file_that_another_one_is_making_is_waited_for(
    patience: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two gradings begin at once in a new home; SQLite itself does not wait there.  After a while it is given up."""
    monkeypatch.setattr("benchwright.store.records._BUSY_SECONDS", patience)
    path = tmp_path / "records.sqlite"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    other.execute("CREATE TABLE made (n)")
    if patience > 1:
        release = threading.Timer(0.3, other.execute, ("ROLLBACK",))
        release.start()
        with RecordStore(path) as store:
            assert store.known(["a"]) == set()
        release.join()
    else:
        with pytest.raises(MachineError, match="database is locked"):
            RecordStore(path)
    other.close()


def test_a_killed_writer_loses_nothing_it_had_acknowledged(tmp_path: Path) -> None:
    """After `kill -9` at any moment every acknowledged record is there, whole."""
    path = tmp_path / "r.sqlite"
    chance = random.Random(3)
    for round_number in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, path, f"r{round_number}", "100000"], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(chance.random() * 0.05)
        writer.kill()
        acknowledged = (first + writer.stdout.read()).decode().splitlines()
        writer.stdout.close()
        writer.wait()
        with RecordStore(path) as store:
            assert store.known(acknowledged) == set(acknowledged)
            assert all(store.get(digest) is not None for digest in acknowledged[-20:])


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    """A newer schema is not touched; the message says both versions and what to do."""
    path = tmp_path / "r.sqlite"
    RecordStore(path).__exit__(None, None, None)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.commit()
    connection.close()
    with pytest.raises(UsageError, match=f"schema {SCHEMA_VERSION + 1}, this version knows {SCHEMA_VERSION}"):
        RecordStore(path)


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_that_is_no_store_is_refused(tmp_path: Path, content: bytes) -> None:
    """A foreign or damaged file is one sentence that says what to do."""
    path = tmp_path / "r.sqlite"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"not a record store or is damaged .* move it away"):
        RecordStore(path)


def test_a_damaged_record_is_refused(tmp_path: Path) -> None:
    """SQLite has no checksums; a record that cannot be unpacked is damage, in one sentence."""
    path = tmp_path / "r.sqlite"
    with RecordStore(path) as store:
        store.put(record())
        store._connection.execute("UPDATE records SET body = X'00112233'")
        with pytest.raises(UsageError, match="damaged"):
            store.get("d")


def test_a_damaged_page_is_refused(tmp_path: Path) -> None:
    """Bytes overwritten in the middle of the file do not come back as records."""
    path = tmp_path / "r.sqlite"
    with RecordStore(path) as store:
        for number in range(200):
            store.put(record(f"{number:064d}", output=str(random.Random(number).random()) * 20))
    data = bytearray(path.read_bytes())
    for page in range(4096, len(data), 4096):
        data[page : page + 200] = b"\xa5" * 200
    path.write_bytes(bytes(data))
    with RecordStore(path) as store, pytest.raises(UsageError, match="damaged"):
        for number in range(200):
            store.get(f"{number:064d}")


def test_a_store_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A folder that cannot be created is the machine's fault, in one sentence."""
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="cannot be opened"):
        RecordStore(tmp_path / "file" / "r.sqlite")
