"""Records and control runs on their way out of a store and into another."""

import json
from pathlib import Path

import pytest

from benchwright.core.controls import ControlOutcome, ControlRun
from benchwright.core.errors import UsageError
from benchwright.core.execution import ExecutionRecord, ExitCause
from benchwright.core.repositories import RepositoryControls, RepositoryRecord
from benchwright.store.evidence import CONTROLS, RECORDS, control_lines, load_evidence, record_lines
from benchwright.store.records import RecordStore

RECORD = ExecutionRecord(job_digest="a" * 64, exit_cause=ExitCause.FINISHED, output="\ud800")
PATCH = RepositoryRecord(job_digest="b" * 64, patch_applied=True)
OUTCOME = ControlOutcome(
    outcome="passed", reason="all_tests_passed", detail="", wall_seconds=1.0, cpu_seconds=1.0, memory_peak_bytes=1
)
CONTROL = ControlRun(
    problem_id="p",
    problem_digest="d",
    environment="e",
    guest_version="g",
    references=(OUTCOME,),
    stubs=(),
    needs_network=False,
)
PATCH_CONTROL = RepositoryControls(
    problem_id="p", problem_digest="d", environment="e", sandbox="s", harness_version=1, reference=(), empty=()
)


@pytest.fixture
def store(tmp_path: Path) -> RecordStore:
    """A store with one record and control run of each kind."""
    store = RecordStore(tmp_path / "records.sqlite")
    store.put(RECORD)
    store.put_repository(PATCH)
    store.put_control(CONTROL)
    store.put_repository_controls(PATCH_CONTROL)
    return store


@pytest.mark.parametrize("repositories", [False, True])
def test_evidence_goes_from_store_to_store(store: RecordStore, tmp_path: Path, repositories: bool) -> None:
    """What was written down is there again; jobs without a record are left out."""
    jobs = [RECORD.job_digest, PATCH.job_digest, "c" * 64]
    with store, RecordStore(tmp_path / "other.sqlite") as other:
        (tmp_path / RECORDS).write_bytes(b"".join(record_lines(jobs, store, repositories=repositories)))
        control = PATCH_CONTROL if repositories else CONTROL
        (tmp_path / CONTROLS).write_bytes(b"".join(control_lines([control])))
        found = load_evidence(tmp_path, other, repositories=repositories)
        assert found == [(PATCH if repositories else RECORD).job_digest]
        assert other.get(RECORD.job_digest) == (None if repositories else RECORD)
        assert other.get_repository(PATCH.job_digest) == (PATCH if repositories else None)
        assert other.controls("e", "g") == ({} if repositories else {"d": CONTROL})
        assert other.repository_controls("e", "s", 1, "d") == (PATCH_CONTROL if repositories else None)


def test_lines_are_in_the_order_of_digests(store: RecordStore) -> None:
    """In whatever order jobs are named, and however often."""
    with store:
        store.put(ExecutionRecord(job_digest="0" * 64, exit_cause=ExitCause.FINISHED))
        lines = list(record_lines(["a" * 64, "0" * 64, "a" * 64], store, repositories=False))
    assert [json.loads(line)["job_digest"][0] for line in lines] == ["0", "a"]


def test_no_files_are_no_evidence(tmp_path: Path) -> None:
    """A folder without them holds none."""
    with RecordStore(tmp_path / "records.sqlite") as store:
        assert load_evidence(tmp_path, store, repositories=False) == []


@pytest.mark.parametrize("repositories", [False, True])
@pytest.mark.parametrize("line", ["{", "[]", "3", "{}", '{"job_digest": "a", "exit_cause": "none such"}'])
def test_a_line_that_is_no_record_is_named(store: RecordStore, tmp_path: Path, line: str, repositories: bool) -> None:
    """With its file and number, whether it is no JSON or lacks what a record has; lines of control runs too."""
    record, control = (PATCH, PATCH_CONTROL) if repositories else (RECORD, CONTROL)
    with store:
        (tmp_path / RECORDS).write_text(f"{json.dumps(record.to_plain())}\n{line}\n")
        with pytest.raises(UsageError, match=r"records\.jsonl, line 2 is no record \("):
            load_evidence(tmp_path, store, repositories=repositories)
        (tmp_path / RECORDS).unlink()
        (tmp_path / CONTROLS).write_text(f"{json.dumps(control.to_plain())}\n" * 2 + f"{line}\n")
        with pytest.raises(UsageError, match=r"controls\.jsonl, line 3 is no control run \("):
            load_evidence(tmp_path, store, repositories=repositories)


@pytest.mark.parametrize("key", [None, [], {}, 3])
def test_what_a_record_is_kept_under_is_text(store: RecordStore, tmp_path: Path, key: object) -> None:
    """Somebody else's file is not trusted to have the right types."""
    (tmp_path / RECORDS).write_text(json.dumps({**RECORD.to_plain(), "job_digest": key}) + "\n")
    with store, pytest.raises(UsageError, match=r"records\.jsonl, line 1 is no record .*job_digest is no text"):
        load_evidence(tmp_path, store, repositories=False)
