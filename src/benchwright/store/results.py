"""The store of results: every run ever recorded, in open formats, append-only.

An entry is made in a hidden folder, flushed to the disk and moved into place by one rename: it is there completely or
not at all, whenever a process is killed.  The lock is held for that move alone, so many may write at once.
"""

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.results import HANDED_OVER, Origin, ProblemFacts, ScoredRun, StoredRun
from benchwright.core.runs import ResultRow, Score
from benchwright.store import finding, upkeep
from benchwright.store.catalogue import Catalogue
from benchwright.store.durable import Stage, flush, write_durably
from benchwright.store.entries import ENTRY_FILE, FOREIGN_FILE, ROWS_FILE, Entry, content_digest
from benchwright.store.entry_parts import Parts, check_whole, write_rows_durably
from benchwright.store.folder import MANIFEST, now
from benchwright.store.index import Known
from benchwright.store.layout import Layout, translated
from benchwright.store.reading import Borrowed, Reading, damaged
from benchwright.store.taking import check_chain, check_says_what_rows_say

if TYPE_CHECKING:
    import pyarrow

T = TypeVar("T")


class ResultStore:
    """One store; use as a context manager."""

    def __init__(self, root: Path, *, read_only: bool = False) -> None:
        """Open a store, making an empty one where there is none.

        Args:
            root: Its folder.
            read_only: Write nothing at all; a store that is not there is then an empty one.

        Raises:
            UsageError: The folder holds something else, or a store of a newer version.
            MachineError: It cannot be read or written.
        """
        self.layout = Layout(root)
        self._read_only = read_only
        with translated(f"Opening the store of results {root}"):
            if read_only:
                self.layout.check_usable()
            else:
                self.layout.create()
            self._catalogue = Catalogue(self.layout, read_only=read_only)
        self._reading = Reading(self.layout, self._look_up)
        try:
            self._catalogue.catch_up()
        except BaseException:
            self._catalogue.close()
            raise

    def __enter__(self) -> "ResultStore":
        return self

    def __exit__(self, *error: object) -> None:
        self._catalogue.close()

    @property
    def damaged(self) -> dict[str, str]:
        """Why entries cannot be used, a sentence for each, as far as they were looked at; all others can."""
        return {**self._catalogue.unreadable, **self._reading.left_out}

    def add(
        self,
        run: StoredRun,
        rows: Iterable[ResultRow],
        files: Mapping[str, Path | bytes],
        *,
        yields: bool = False,
    ) -> StoredRun:
        """Record a run; it is there for good when this returns, whatever happens to the machine afterwards.

        A run whose newest entry says the same already gets no second one: that entry is returned.  Otherwise the new
        entry supersedes the newest one, by the order in which they were recorded here and not by any clock.

        Args:
            run: The run; ``entry``, ``recorded``, ``supersedes`` and ``files`` are filled in here.
            rows: All of its rows; none for a run that only states scores.
            files: Contents to keep beside them, by name.  The manifest is one of them, and is made of
                ``run.manifest`` when it is not given.
            yields: It does not count where this store has recorded the run itself: somebody handed it over.

        Raises:
            UsageError: Rows and scores do not belong together, a file's name is reserved, the store is read only.
            MachineError: The disk is full or cannot be written; nothing was recorded.
        """
        self._refuse_read_only()
        from benchwright.store.row_tables import storable  # loads pyarrow, which listing runs does not need

        kept = [storable(row) for row in rows]
        check_whole(run, kept, files)
        content = content_digest(run, kept)
        with translated("Recording the run"), self._stage() as stage:
            parts = Parts.read(run, files)
            digests = parts.digests()
            if kept:
                digests[ROWS_FILE] = write_rows_durably(stage, kept)
            parts.write(stage, self.layout)
            with self._catalogue.held():
                self._catalogue.catch_up_locked()
                head = self._catalogue.use(lambda index: index.head(run.run_id))
                if head is not None and head.content == content and (yields or self._is_own(head, run, digests)):
                    return self.with_manifest(self._look_up(head.entry))
                recorded = dataclasses.replace(
                    run, recorded=now(), supersedes=head.entry if head else None, files=digests
                )
                foreign = yields and head is not None and not head.foreign
                entry = Entry.sealed(recorded, content, head.generation + 1 if head else 1, foreign=foreign)
                self._move_in(entry, stage, parts)
        return dataclasses.replace(entry.run, manifest=run.manifest)

    def take(self, entry: Entry, rows: bytes | None, blobs: Mapping[str, bytes], *, take_over: bool = False) -> bool:
        """Take in an entry of another store as it is; says whether it was new.

        It never counts for a run that this store recorded itself, unless it is to take over.

        Args:
            entry: It; `Entry.from_bytes` has checked it.
            rows: Its ``rows.parquet``, if it has one.
            blobs: Files of the contents that it names by digest, as they stand in a store; whoever read them has
                checked the digests.
            take_over: Treat it as if this store had recorded it.

        Raises:
            ValueError: Its rows do not say what it says, a content is not given, or entries before it are missing; the
                message is a clause.
        """
        self._refuse_read_only()
        parts = Parts(contents=blobs, packed=True)
        parts.check(entry, rows)
        check_says_what_rows_say(entry, rows)
        with translated("Taking the run over"), self._stage() as stage:
            if rows is not None:
                write_durably(stage.entry / ROWS_FILE, rows)
            parts.write(stage, self.layout)
            with self._catalogue.held():
                self._catalogue.catch_up_locked()
                if entry.run.entry in self.layout.names():
                    return False
                known = self._catalogue.use(lambda index: index.known(entry.run.run_id))
                check_chain(entry, known, take_over=take_over)
                self._move_in(dataclasses.replace(entry, foreign=not take_over), stage, parts)
        return True

    def counts(self, name: str) -> bool:
        """Whether an entry is the one that counts for its run."""
        run_id = self._look_up(name).run_id
        head = self._catalogue.use(lambda index: index.head(run_id))
        return head is not None and head.entry == name

    def saying(self, run: StoredRun, rows: Iterable[ResultRow]) -> StoredRun | None:
        """The newest entry of a run that says the same as this one with these rows, counting or not."""
        content = content_digest(run, rows)
        self._catalogue.catch_up()
        known = self._catalogue.use(lambda index: index.known(run.run_id))
        found = next((one.entry for one in known if one.content == content), None)
        return None if found is None else self.with_manifest(self._look_up(found))

    def adopt(self, name: str) -> None:
        """Treat an entry that was taken in as one that this store has recorded."""
        self._refuse_read_only()
        with translated("Taking the run over"), self._catalogue.held():
            marker = self.layout.foreign(name)
            if marker.exists():
                self._catalogue.use(lambda index: index.remove([name]))  # first: killed after it, the index catches up
                marker.unlink()
                flush(marker.parent)
                self._catalogue.catch_up_locked()

    def beside(self, names: Iterable[str]) -> list[StoredRun]:
        """Those of these entries that do not count because this store recorded the same run itself."""
        runs = [self._look_up(name) for name in names]
        known = self._catalogue.use(lambda index: {run.run_id: index.known(run.run_id) for run in runs})
        foreign = {one.entry for entries in known.values() for one in entries if one.foreign}
        return [run for run in runs if run.entry in foreign and not known[run.run_id][0].foreign]

    def borrow(self, run: StoredRun, rows: Iterable[ResultRow], files: Mapping[str, Path | bytes]) -> StoredRun:
        """Let this object know a run that is not recorded; nothing is written.

        Returns the newest entry of the same run instead when that says the same.
        """
        held = tuple(rows)
        content = content_digest(run, held)
        self._catalogue.catch_up()
        head = self._catalogue.use(lambda index: index.head(run.run_id))
        if head is not None and head.content == content:
            return self.with_manifest(self._look_up(head.entry))
        named = dataclasses.replace(run, entry=content)
        self._reading.borrow(Borrowed(run=named, rows=held, files=dict(files)))
        return named

    def runs(
        self,
        *,
        benchmark: str | None = None,
        subset: str | None = None,
        variant: str | None = None,
        model: str | None = None,
        origin: Origin | None = None,
        superseded: bool = False,
    ) -> list[StoredRun]:
        """The recorded runs, from the index.

        Args:
            benchmark: Only of this one; so the next ones.
            subset: See above.
            variant: See above.
            model: See above.
            origin: See above.
            superseded: Also entries that another one of the same run replaces.
        """
        self._catalogue.catch_up()
        given = {"benchmark": benchmark, "subset": subset, "variant": variant, "model": model, "origin": origin}
        wanted = {name: str(value) for name, value in given.items() if value is not None}
        return self._catalogue.use(lambda index: index.runs(wanted, superseded=superseded))

    def run(self, name: str) -> StoredRun:
        """The run that a name means, with its manifest: the beginning of an entry's or run's id, or a model's name.

        Raises `UnknownNameError` when there is none, `UsageError` when there are several.
        """
        found = finding.find(name, self.runs(superseded=True), self.runs(), place=self.layout.root)
        return self.with_manifest(found)

    def with_manifest(self, run: StoredRun) -> StoredRun:
        """A run as the index has it, with its manifest, if it has one.

        Raises `UsageError` when that is damaged, or none.
        """
        if run.manifest or MANIFEST not in run.files:
            return run
        content = self._reading.file(run.entry, MANIFEST)
        try:
            manifest = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise damaged(run, MANIFEST, error) from error
        if not isinstance(manifest, dict):
            raise damaged(run, MANIFEST, "it is no manifest")
        return dataclasses.replace(run, manifest=manifest)

    def rows(self, entry: str) -> Iterator[ResultRow]:
        """The rows of an entry in their order; none of a run that only states scores.

        Raises `UsageError` when they are damaged.
        """
        return self._reading.rows(entry)

    def scored(
        self, entries: Iterable[StoredRun], score: Score | None = None, *, skip_damaged: bool = False
    ) -> list[ScoredRun]:
        """Runs under a score, problem by problem, in the order given; None takes the last score of each.

        Raises `UsageError` when a run has no rows under the score, or damaged ones, unless damaged runs are skipped:
        then `damaged` has them.
        """
        if skip_damaged:
            return self._reading.sound(entries, lambda run: self._reading.scored(run, score))
        return [self._reading.scored(run, score) for run in entries]

    def sound(self, entries: Iterable[StoredRun], read: Callable[[StoredRun], T]) -> list[T]:
        """What ``read`` gives of each run, leaving out those that turn out to be damaged; `damaged` then has them."""
        return self._reading.sound(entries, read)

    def row_table(self, run: StoredRun) -> "pyarrow.Table":
        """The rows of an entry as an Arrow table, in the columns of its file; raises `UsageError` as `rows` does."""
        return self._reading.row_table(run)

    def problem_facts(self, entry: str) -> dict[str, ProblemFacts]:
        """What is known of an entry's problems, by id; empty when nothing was written down."""
        return self._reading.problem_facts(entry)

    def read_file(self, entry: str, name: str) -> bytes:
        """The content of a file of an entry; raises `UsageError` when it has none of that name, or it is damaged."""
        return self._reading.file(entry, name)

    def rebuild(self) -> None:
        """Make the index anew out of the entries."""
        self._refuse_read_only()
        with translated("Making the index anew"), self._catalogue.held():
            self._catalogue.renew()
            self._catalogue.catch_up_locked()

    def verify(self) -> list[str]:
        """Everything in the store that is not what it was when it was written, a sentence for each."""
        with translated("Verifying the store"):
            return list(upkeep.damage(self.layout)) if self.layout.exists() else []

    def gc(self, *, superseded: bool = False, dry_run: bool = False) -> upkeep.Cleaning:
        """Clear away what writers that are gone have left behind, and contents that no entry names.

        Args:
            superseded: Drop entries, too, that another one of the same run replaces.
            dry_run: Only say what would go.
        """
        self._refuse_read_only()
        with translated("Clearing the store"), self._catalogue.held():
            self._catalogue.catch_up_locked()
            every = self._catalogue.use(lambda index: index.runs({}, superseded=True))
            heads = {run.entry for run in self._catalogue.use(lambda index: index.runs({}, superseded=False))}
            dropped = {run.entry for run in every} - heads if superseded else set()
            cleaning = upkeep.cleaned(self.layout, superseded=dropped, dry_run=dry_run)
            self._catalogue.catch_up_locked()
            return cleaning

    def index_dump(self) -> list[tuple[object, ...]]:
        """Everything in the index, to compare."""
        return self._catalogue.use(lambda index: index.dump())

    def _is_own(self, head: Known, run: StoredRun, digests: Mapping[str, str]) -> bool:
        """Whether the entry that counts is of this store; one taken in becomes that when its files are the same."""
        if not head.foreign:
            return True
        there = self._look_up(head.entry)
        if there.files != digests or HANDED_OVER.intersection(there.flags) != HANDED_OVER.intersection(run.flags):
            return False
        self.adopt(head.entry)
        return True

    def _look_up(self, entry: str) -> StoredRun:
        found = self._catalogue.use(lambda index: index.runs({"entry": entry}, superseded=True))
        if not found:
            raise UnknownNameError("entry in the store", finding.shown(entry), ())
        return found[0]

    @contextlib.contextmanager
    def _stage(self) -> Iterator[Stage]:
        with self._catalogue.held():
            stage = Stage(self.layout.root)
        try:
            yield stage
        finally:
            stage.close()

    def _move_in(self, entry: Entry, stage: Stage, parts: Parts) -> None:
        """Put an entry in its place; the lock must be held."""
        write_durably(stage.entry / ENTRY_FILE, entry.to_bytes())
        if entry.foreign:
            write_durably(stage.entry / FOREIGN_FILE, b"")
        flush(stage.entry)
        parts.move_in(stage, self.layout)
        stage.entry.rename(self.layout.entry(entry.run.entry))
        flush(self.layout.runs)
        self._catalogue.use(lambda index: index.add([entry]))

    def _refuse_read_only(self) -> None:
        if self._read_only:
            raise UsageError(f"The store {self.layout.root} was opened for reading alone; nothing can be recorded.")
