"""Execution records and control runs by content, in one SQLite file; safe under several writers and ``kill -9``.

Records are keyed by the job's digest (submission, tests, environment, limits, guest version, isolation), so a
record can neither be stale nor be made twice.  Every write is its own transaction: what was acknowledged is there.
"""

import contextlib
import json
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchwright.core.controls import ControlRun
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.execution import ExecutionRecord
from benchwright.core.repositories import RepositoryControls, RepositoryRecord

SCHEMA_VERSION = 2
"""2 added the repository tables; a store of version 1 gets them when it is opened."""

_TABLES = """
CREATE TABLE IF NOT EXISTS records (digest TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS controls (
    environment TEXT NOT NULL, guest TEXT NOT NULL, problem TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (environment, guest, problem)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS repository_records (digest TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS repository_controls (
    environment TEXT NOT NULL, sandbox TEXT NOT NULL, harness INTEGER NOT NULL, problem TEXT NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (environment, sandbox, harness, problem)
) WITHOUT ROWID;
"""
_BUSY_SECONDS = 60.0
_AGAIN_SECONDS = 0.01


def records_in(home: Path) -> "RecordStore":
    """Open the record store of a benchwright home."""
    return RecordStore(home / "records.sqlite")


class RecordStore:
    """The records of one benchwright home; use as a context manager."""

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises:
            MachineError: The file cannot be written.
            UsageError: The file is not ours, or was written by a newer version.
        """
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise MachineError(f"The record store {path} cannot be opened ({error}); check its folder.") from error
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        with self._translated():
            self._write_ahead()
            self._connection.execute("PRAGMA synchronous = NORMAL")
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version > SCHEMA_VERSION:
                raise UsageError(
                    f"The record store {self._path} has schema {version}, this version knows {SCHEMA_VERSION}; "
                    f"upgrade benchwright or choose another BENCHWRIGHT_HOME."
                )
            if version < SCHEMA_VERSION:
                self._connection.executescript(_TABLES)
                self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _write_ahead(self) -> None:
        """Set the kind of journal; while another one opens a new file, SQLite refuses that without waiting."""
        latest = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > latest:
                    raise
                time.sleep(_AGAIN_SECONDS)
            else:
                return

    def __enter__(self) -> "RecordStore":
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()

    def get(self, digest: str) -> ExecutionRecord | None:
        """The record of a job, or None."""
        plain = self._plain("records", digest)
        if plain is None:
            return None
        with self._sound():
            record = ExecutionRecord.from_plain(plain)
        if record.job_digest != digest:
            raise self._damaged(f"the record kept for job {digest[:12]} is another's")
        return record

    def get_repository(self, digest: str) -> RepositoryRecord | None:
        """The record of a repository job, or None."""
        plain = self._plain("repository_records", digest)
        if plain is None:
            return None
        with self._sound():
            record = RepositoryRecord.from_plain(plain)
        if record.job_digest != digest:
            raise self._damaged(f"the record kept for job {digest[:12]} is another's")
        return record

    def known(self, digests: Iterable[str]) -> set[str]:
        """Which of these jobs have a record."""
        return self._known("records", digests)

    def known_repository(self, digests: Iterable[str]) -> set[str]:
        """Which of these repository jobs have a record."""
        return self._known("repository_records", digests)

    def _known(self, table: str, digests: Iterable[str]) -> set[str]:
        wanted = list(dict.fromkeys(digests))
        found: set[str] = set()
        with self._translated():
            for start in range(0, len(wanted), 500):
                part = wanted[start : start + 500]
                marks = ",".join("?" * len(part))
                rows = self._connection.execute(f"SELECT digest FROM {table} WHERE digest IN ({marks})", part)
                found.update(row[0] for row in rows)
        return found

    def put(self, record: ExecutionRecord) -> None:
        """Keep a record; where another grading was faster with the same job, its record stays."""
        self._insert("records", record.job_digest, record.to_plain())

    def put_repository(self, record: RepositoryRecord) -> None:
        """Keep a record of a repository job; the first one of a job stays."""
        self._insert("repository_records", record.job_digest, record.to_plain())

    def put_repository_controls(self, controls: RepositoryControls) -> None:
        """Keep the control runs of an instance; newer ones of the same environment replace them."""
        key = (controls.environment, controls.sandbox, controls.harness_version, controls.problem_digest)
        with self._translated():
            self._connection.execute(
                "INSERT OR REPLACE INTO repository_controls (environment, sandbox, harness, problem, body) "
                "VALUES (?, ?, ?, ?, ?)",
                (*key, json.dumps(controls.to_plain())),
            )

    def repository_controls(
        self, environment: str, sandbox: str, harness_version: int, problem_digest: str
    ) -> RepositoryControls | None:
        """The control runs of one instance in one environment, or None."""
        with self._translated():
            row = self._connection.execute(
                "SELECT body FROM repository_controls "
                "WHERE environment = ? AND sandbox = ? AND harness = ? AND problem = ?",
                (environment, sandbox, harness_version, problem_digest),
            ).fetchone()
        if row is None:
            return None
        with self._sound():
            return RepositoryControls.from_plain(json.loads(row[0]))

    def put_control(self, control: ControlRun) -> None:
        """Keep a control run; a newer one of the same problem and environment replaces it."""
        with self._translated():
            self._connection.execute(
                "INSERT OR REPLACE INTO controls (environment, guest, problem, body) VALUES (?, ?, ?, ?)",
                (control.environment, control.guest_version, control.problem_digest, json.dumps(control.to_plain())),
            )

    def controls(self, environment: str, guest_version: str) -> dict[str, ControlRun]:
        """Control runs of an environment by problem digest.

        Those made with another guest version count where there is no newer one: they still tell times and
        which references fail here.
        """
        with self._translated():
            rows = self._connection.execute(
                "SELECT problem, body FROM controls WHERE environment = ? ORDER BY guest = ?",
                (environment, guest_version),
            ).fetchall()
        with self._sound():
            return {problem: ControlRun.from_plain(json.loads(body)) for problem, body in rows}

    def _plain(self, table: str, digest: str) -> Any:
        with self._translated():
            row = self._connection.execute(f"SELECT body FROM {table} WHERE digest = ?", (digest,)).fetchone()
        if row is None:
            return None
        with self._sound():
            plain = json.loads(zlib.decompress(row[0]))
        if not isinstance(plain, dict):
            raise self._damaged(f"the record kept for job {digest[:12]} is none")
        return plain

    def _insert(self, table: str, digest: str, plain: dict[str, Any]) -> None:
        body = zlib.compress(json.dumps(plain).encode(), 6)
        with self._translated():
            self._connection.execute(f"INSERT OR IGNORE INTO {table} (digest, body) VALUES (?, ?)", (digest, body))

    @contextlib.contextmanager
    def _sound(self) -> Iterator[None]:
        try:
            yield
        except (zlib.error, ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._damaged(str(error)) from error

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.ProgrammingError, sqlite3.InterfaceError) as error:  # not the machine's fault
            raise TypeError(f"what a record is kept under is text or a number ({error})") from error
        except sqlite3.DatabaseError as error:
            if "not a database" in str(error) or "malformed" in str(error):
                raise self._damaged(str(error)) from error
            raise MachineError(f"The record store {self._path} cannot be used ({error}); is the disk full?") from error

    def _damaged(self, what: str) -> UsageError:
        return UsageError(
            f"{self._path} is not a record store or is damaged ({what}); move it away, finished work in it is then "
            f"run again."
        )
