"""Records and control runs as files, so that a result can be taken elsewhere with its evidence."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from benchwright.core.controls import ControlRun
from benchwright.core.errors import UsageError
from benchwright.core.execution import ExecutionRecord
from benchwright.core.repositories import RepositoryControls, RepositoryRecord
from benchwright.store.records import RecordStore

RECORDS, CONTROLS = "records.jsonl", "controls.jsonl"

MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, OverflowError)
"""What reading a bundle's files may raise: digests say that a file is what somebody wrote, not that benchwright did, so
fields may be absent or of any type."""

Record = ExecutionRecord | RepositoryRecord
T = TypeVar("T")


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


def load_evidence(folder: Path, store: RecordStore, *, repositories: bool) -> list[str]:
    """Put what `RECORDS` and `CONTROLS` of a folder hold into a store; returns the job of each record, in file order.

    They are somebody's word: put them into a store of their own, never into that of a home, where they would stand
    for what was executed there.  Raises `UsageError` naming a line that is none.
    """

    def record(plain: dict[str, Any]) -> str:
        _check_keys(plain, "job_digest")
        if repositories:
            store.put_repository(RepositoryRecord.from_plain(plain))
        else:
            store.put(ExecutionRecord.from_plain(plain))
        return str(plain["job_digest"])

    def control(plain: dict[str, Any]) -> None:
        if repositories:
            _check_keys(plain, "environment", "sandbox", "problem_digest")
            if not isinstance(plain["harness_version"], int):
                raise TypeError("harness_version is no number")
            store.put_repository_controls(RepositoryControls.from_plain(plain))
        else:
            _check_keys(plain, "environment", "guest_version", "problem_digest")
            store.put_control(ControlRun.from_plain(plain))

    jobs = list(_lines(folder / RECORDS, record, "record"))
    for _ in _lines(folder / CONTROLS, control, "control run"):
        pass
    return jobs


def _check_keys(plain: Mapping[str, Any], *names: str) -> None:
    """What something is kept under must be text; raises ``TypeError`` or ``KeyError``."""
    for name in names:
        if not isinstance(plain[name], str):
            raise TypeError(f"{name} is no text")


def _lines(path: Path, read: Callable[[Any], T], what: str) -> Iterator[T]:
    """What is read of each line of a file; what the reader raises is named with the line.  No file has no lines."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                found = read(json.loads(line))
            except MALFORMED as error:
                why = f"{type(error).__name__}: {str(error)[:80]}"
                raise UsageError(f"{path}, line {number} is no {what} ({why}).") from error
            yield found
