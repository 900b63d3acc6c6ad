"""The index of a store: one small SQLite file, so that a thousand runs are listed without opening a thousand files.

Everything in it follows from the entries alone, so it may be deleted at any time and comes out the same again.
Names go in as JSON strings: those hold any character, lone surrogates and NUL too.
"""

import contextlib
import dataclasses
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.core.errors import MachineError
from benchwright.core.results import HANDED_OVER, Origin, StoredRun
from benchwright.store.entries import Entry, run_from_plain, run_to_plain

INDEX_SCHEMA = 3
"""An index of another schema is made anew; it holds nothing of its own."""

TAKEN_IN = "taken_in"
"""Flag that an own result is given when it is read, where this store took it in and did not record it."""

_TABLE = """
CREATE TABLE IF NOT EXISTS entries (
    entry TEXT PRIMARY KEY, run_id TEXT NOT NULL, benchmark TEXT NOT NULL, subset TEXT NOT NULL,
    variant TEXT NOT NULL, model TEXT NOT NULL, origin TEXT NOT NULL,
    content TEXT NOT NULL, generation INTEGER NOT NULL, taken INTEGER NOT NULL, head INTEGER NOT NULL,
    body TEXT NOT NULL
) WITHOUT ROWID
"""
_TAKEN, _HANDED = 1, 2
"""What an entry is that this store did not record: taken in from another store, handed over as a bundle or a folder.
The smaller their sum, the sooner it counts for its run."""
_BUSY_SECONDS = 60.0


class IndexUnusableError(Exception):
    """The file is no index that this version can use; the store makes it anew, or does without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """An entry of a run, as far as the next one needs to know."""

    entry: str
    content: str
    generation: int
    foreign: bool
    """Whether it was taken in from elsewhere, or handed over."""


class Index:
    """The index in a file, or in memory alone."""

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        """Open, or make an empty one; None keeps it in memory.

        Raises:
            IndexUnusableError: The file is corrupt, of another schema, or cannot be opened.
        """
        self._connection: sqlite3.Connection | None = None
        try:
            self._connection = _connect(path, read_only=read_only)
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version != INDEX_SCHEMA and (version != 0 or read_only):
                raise IndexUnusableError(f"it has schema {version}")
            if version == 0:
                self._connection.execute(_TABLE)
                self._connection.execute(f"PRAGMA user_version = {INDEX_SCHEMA}")
            self._connection.execute("SELECT entry FROM entries LIMIT 1").fetchall()
        except sqlite3.Error as error:
            self.close()
            raise IndexUnusableError(str(error)) from error
        except IndexUnusableError:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()

    def names(self) -> set[str]:
        """All entries in it."""
        return {name for (name,) in self._rows("SELECT entry FROM entries")}

    def add(self, entries: Iterable[Entry]) -> None:
        """Take entries in; those that are there are left as they are."""
        added = list(entries)
        with self._changing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)", map(_row, added)
            )
            _mark_heads(connection, {_name(entry.run.run_id) for entry in added})

    def remove(self, names: Iterable[str]) -> None:
        """Forget entries."""
        gone = [(name,) for name in names]
        with self._changing() as connection:
            runs = {
                run_id
                for name in gone
                for (run_id,) in connection.execute("SELECT run_id FROM entries WHERE entry = ?", name)
            }
            connection.executemany("DELETE FROM entries WHERE entry = ?", gone)
            _mark_heads(connection, runs)

    def head(self, run_id: str) -> Known | None:
        """The entry of a run that counts."""
        return next(iter(self.known(run_id)), None)

    def known(self, run_id: str) -> list[Known]:
        """All entries of a run, the one that counts first."""
        query = (
            "SELECT entry, content, generation, taken FROM entries WHERE run_id = ?"
            " ORDER BY head DESC, generation DESC, entry DESC"
        )
        return [
            Known(entry=entry, content=content, generation=generation, foreign=bool(taken))
            for entry, content, generation, taken in self._rows(query, _name(run_id))
        ]

    def runs(self, wanted: Mapping[str, str], *, superseded: bool) -> list[StoredRun]:
        """The runs whose columns are as wanted, in the order of benchmark, subset, variant, model and entry."""
        terms = [f"{name} = ?" for name in wanted] + ([] if superseded else ["head"])
        query = f"SELECT body, taken FROM entries {'WHERE ' if terms else ''}{' AND '.join(terms)}"
        order = " ORDER BY benchmark, subset, variant, model, run_id, generation, entry"
        values = [value if name == "entry" else _name(value) for name, value in wanted.items()]
        bodies = self._rows(query + order, *values)
        return [_read(body, foreign=bool(taken & _TAKEN)) for body, taken in bodies]

    def dump(self) -> list[tuple[Any, ...]]:
        """Everything in it, in the order of the entries."""
        return self._rows("SELECT * FROM entries ORDER BY entry")

    def _rows(self, query: str, *values: str) -> list[tuple[Any, ...]]:
        assert self._connection is not None
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise IndexUnusableError(str(error)) from error

    @contextlib.contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        connection = self._connection
        assert connection is not None
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise MachineError(
                f"The index of the store cannot be written ({error}); what was recorded is kept, and the index "
                f"catches up when the store is opened next."
            ) from error
        except sqlite3.DatabaseError as error:
            raise IndexUnusableError(str(error)) from error


def _connect(path: Path | None, *, read_only: bool) -> sqlite3.Connection:
    if path is None:
        return sqlite3.connect(":memory:", isolation_level=None)
    uri = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    return sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)


def _row(entry: Entry) -> tuple[str | int, ...]:
    run = entry.run
    named = (run.run_id, run.benchmark, run.subset, run.variant, run.model, run.origin.value)
    return (
        run.entry,
        *map(_name, named),
        entry.content,
        entry.generation,
        _TAKEN * entry.foreign + _HANDED * bool(HANDED_OVER.intersection(run.flags)),
        json.dumps(run_to_plain(run)),
    )


def _read(body: str, *, foreign: bool) -> StoredRun:
    run = run_from_plain(json.loads(body))
    if not foreign or run.origin is not Origin.OWN:
        return run
    return dataclasses.replace(run, flags=(*run.flags, TAKEN_IN))


def _name(text: str) -> str:
    return json.dumps(text)


def _mark_heads(connection: sqlite3.Connection, run_ids: Iterable[str]) -> None:
    """Of each run one entry counts: the one at the end of the longest chain; of several, that of the last digest.

    One that this store recorded goes before all that were taken in from elsewhere, and these before what was handed
    over as a bundle or a folder.  There are several ends when two
    stores went on from the same entry and one was imported into the other.
    """
    for run_id in run_ids:
        connection.execute(
            "UPDATE entries SET head = (entry = (SELECT entry FROM entries WHERE run_id = ?1"
            " ORDER BY taken, generation DESC, entry DESC LIMIT 1)) WHERE run_id = ?1",
            (run_id,),
        )
