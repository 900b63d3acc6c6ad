"""Records and control runs as files, so that a result can be taken elsewhere with its evidence."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.core.controls import ControlRun
from benchwright.core.errors import UsageError
from benchwright.core.execution import ExecutionRecord
from benchwright.core.repositories import RepositoryControls, RepositoryRecord
from benchwright.store.records import RecordStore

RECORDS, CONTROLS = "records.jsonl", "controls.jsonl"

Record = ExecutionRecord | RepositoryRecord


def record_lines(digests: Iterable[str], store: RecordStore, *, repositories: bool) -> Iterator[bytes]:
    """The records of jobs as lines, by digest; jobs without one are left out."""
    get: Callable[[str], Record | None] = store.get_repository if repositories else store.get
    for digest in sorted(set(digests)):
        record = get(digest)
        if record is not None:
            yield _line(record.to_plain())


def control_lines(controls: Iterable[ControlRun | RepositoryControls]) -> Iterator[bytes]:
    """Control runs as lines, by problem id."""
    for control in sorted(controls, key=lambda control: (control.problem_id, control.problem_digest)):
        yield _line(control.to_plain())


def _line(plain: Mapping[str, Any]) -> bytes:
    return json.dumps(plain, separators=(",", ":")).encode() + b"\n"


def load_evidence(folder: Path, store: RecordStore, *, repositories: bool) -> None:
    """Put what `RECORDS` and `CONTROLS` of a folder hold into a store; raises `UsageError` naming a line that is none.

    They are somebody's word: put them into a store of their own, never into that of a home, where they would stand
    for what was executed there.
    """
    for plain in _plain_lines(folder / RECORDS):
        _check_keys(plain, "job_digest")
        if repositories:
            store.put_repository(RepositoryRecord.from_plain(plain))
        else:
            store.put(ExecutionRecord.from_plain(plain))
    for plain in _plain_lines(folder / CONTROLS):
        if repositories:
            _check_keys(plain, "environment", "sandbox", "problem_digest")
            if not isinstance(plain["harness_version"], int):
                raise TypeError("harness_version is no number")
            store.put_repository_controls(RepositoryControls.from_plain(plain))
        else:
            _check_keys(plain, "environment", "guest_version", "problem_digest")
            store.put_control(ControlRun.from_plain(plain))


def _check_keys(plain: Mapping[str, Any], *names: str) -> None:
    """What something is kept under must be text; raises ``TypeError`` or ``KeyError``."""
    for name in names:
        if not isinstance(plain[name], str):
            raise TypeError(f"{name} is no text")


def jobs_with_records(folder: Path) -> list[str]:
    """Digest of the job of every line of `RECORDS`, in file order; raises `UsageError` for a line without one."""
    return [str(plain["job_digest"]) for plain in _plain_lines(folder / RECORDS)]


def _plain_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file; what the reader of a line raises is named with it.  A file that is not there has none."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UsageError(f"{path.name}, line {number} is no JSON ({str(error)[:80]}).") from error
