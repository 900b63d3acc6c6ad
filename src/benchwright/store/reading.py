"""What is in entries: rows, tallies, facts of problems and files, each checked as it is read."""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.results import ProblemFacts, ScoredRun, StoredRun, tallies_of_rows
from benchwright.core.runs import ResultRow, Score
from benchwright.store.blobs import read_blob
from benchwright.store.entries import ROWS_FILE
from benchwright.store.finding import shown
from benchwright.store.folder import PROBLEMS, facts_from_lines
from benchwright.store.layout import RUNS, Layout

if TYPE_CHECKING:
    import pyarrow

T = TypeVar("T")


class DamagedError(UsageError):
    """A file of an entry is not what was written.  Whoever reads many runs leaves this one out, and says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Borrowed:
    """A run that is in no store, with everything that is asked of one."""

    run: StoredRun
    rows: tuple[ResultRow, ...]
    files: Mapping[str, Path | bytes]


class Reading:
    """Reads entries of one store, and runs that were borrowed."""

    def __init__(self, layout: Layout, look_up: Callable[[str], StoredRun]) -> None:
        self._layout = layout
        self._look_up = look_up
        self._borrowed: dict[str, Borrowed] = {}
        self._facts: dict[str, dict[str, ProblemFacts]] = {}
        self.left_out: dict[str, str] = {}
        """Why runs that were to be read are left out, a sentence for each, by entry."""

    def borrow(self, borrowed: Borrowed) -> None:
        """Know a run that is in no store."""
        self._borrowed[borrowed.run.entry] = borrowed

    def rows(self, entry: str) -> Iterator[ResultRow]:
        """The rows of an entry."""
        if entry in self._borrowed:
            yield from self._borrowed[entry].rows
            return
        run = self._look_up(entry)
        if ROWS_FILE not in run.files:
            return
        from benchwright.store.row_tables import read_rows  # loads pyarrow

        try:
            yield from read_rows(self._rows_file(run))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise damaged(run, ROWS_FILE, error) from error

    def _rows_file(self, run: StoredRun) -> io.BytesIO:
        """The file of rows, checked: one changed byte may be a changed verdict that Parquet's own sums do not see."""
        return io.BytesIO(self.file(run.entry, ROWS_FILE))

    def sound(self, runs: Iterable[StoredRun], read: Callable[[StoredRun], T]) -> list[T]:
        """What is read of each run, those left out that turn out to be damaged; ``left_out`` then has them."""
        found = []
        for run in runs:
            try:
                found.append(read(run))
            except DamagedError as error:
                self.left_out[run.entry] = str(error)
            else:
                self.left_out.pop(run.entry, None)
        return found

    def row_table(self, run: StoredRun) -> "pyarrow.Table":
        """The rows of an entry as an Arrow table."""
        from benchwright.store.row_tables import read_table

        try:
            return read_table(self._rows_file(run))
        except (OSError, ValueError, KeyError) as error:
            raise damaged(run, ROWS_FILE, error) from error

    def scored(self, run: StoredRun, score: Score | None) -> ScoredRun:
        """A run under a score."""
        if not run.scores:
            raise UsageError(f"Run {run.entry[:12]} ({shown(run.model)}) states scores alone, without verdicts.")
        wanted = run.scores[-1] if score is None else score
        if wanted not in run.scores:
            has = ", ".join(run.scores)
            raise UsageError(f"Run {run.entry[:12]} ({shown(run.model)}) was not graded as {wanted}; it has {has}.")
        from benchwright.store.row_tables import read_tallies

        if run.entry in self._borrowed:
            rows = self._borrowed[run.entry].rows
            return ScoredRun(run=run, score=wanted, tallies=tallies_of_rows(rows, wanted))
        try:
            found = read_tallies(self._rows_file(run), wanted)
        except (OSError, ValueError, KeyError) as error:
            raise damaged(run, ROWS_FILE, error) from error
        return ScoredRun(run=run, score=wanted, tallies=found)

    def problem_facts(self, entry: str) -> dict[str, ProblemFacts]:
        """What is known of an entry's problems; equal files are read once."""
        if entry in self._borrowed:
            return self._borrowed_facts(self._borrowed[entry])
        run = self._look_up(entry)
        digest = run.files.get(PROBLEMS)
        if digest is None:
            return {}
        if digest not in self._facts:
            try:
                self._facts[digest] = facts_from_lines(self.file(entry, PROBLEMS))
            except ValueError as error:
                raise damaged(run, PROBLEMS, error) from error
        return self._facts[digest]

    def _borrowed_facts(self, borrowed: Borrowed) -> dict[str, ProblemFacts]:
        content = _content(borrowed, PROBLEMS)
        try:
            return {} if content is None else facts_from_lines(content)
        except ValueError as error:
            raise UsageError(
                f"{PROBLEMS} of {shown(borrowed.run.model)} cannot be read ({shown(str(error), 200)}); grade again to "
                f"make it anew."
            ) from error

    def file(self, entry: str, name: str) -> bytes:
        """The content of a file of an entry."""
        if entry in self._borrowed:
            content = _content(self._borrowed[entry], name)
            if content is None:
                raise UnknownNameError(f"file of run {entry[:12]}", name, self._borrowed[entry].files)
            return content
        run = self._look_up(entry)
        if name not in run.files:
            raise UnknownNameError(f"file of run {run.entry[:12]}", name, run.files)
        digest = run.files[name]
        try:
            content = self._layout.rows(run.entry).read_bytes() if name == ROWS_FILE else self._blob(digest)
        except OSError as error:
            raise damaged(run, name, error) from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise damaged(run, name, "its digest is another one")
        return content

    def _blob(self, digest: str) -> bytes:
        return read_blob(self._layout.blob(digest))


def damaged(run: StoredRun, name: str, why: object) -> DamagedError:
    """The error for a file of an entry that cannot be used."""
    return DamagedError(
        f"{name} of run {run.entry[:12]} ({shown(run.model)}) is missing or damaged ({shown(str(why), 200)}); "
        f"`bw store verify` lists all damage, and importing the run again from an export mends it once its folder "
        f"{RUNS}/{run.entry} is moved away."
    )


def _content(borrowed: Borrowed, name: str) -> bytes | None:
    file = borrowed.files.get(name)
    try:
        return file.read_bytes() if isinstance(file, Path) else file
    except OSError as error:
        raise UsageError(
            f"{name} of {shown(borrowed.run.model)} cannot be read ({error.strerror}); look at its results folder."
        ) from error
