"""Runs to and from another place: a folder, or whatever fsspec reaches by an address.

The place has the layout of a store without an index.  ``entry.json`` is written last, so that half an upload shows
nothing; what is there already is not written again.
"""

import io
import json
import posixpath
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.core.errors import MachineError, UsageError
from benchwright.core.results import StoredRun
from benchwright.store.blobs import MAX_FOREIGN_BYTES, blob_name, digest_of_blob, is_digest, most_of_foreign, sound_blob
from benchwright.store.durable import replace_durably
from benchwright.store.entries import ENTRY_FILE, ROWS_FILE, Entry
from benchwright.store.finding import shown
from benchwright.store.layout import RUNS, STORE_FILE, Layout, entry_file
from benchwright.store.reading import DamagedError, damaged
from benchwright.store.results import ResultStore
from benchwright.store.upgrades import Kind, UnknownSchemaError, schema_of, upgraded


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What was written to a place, or taken from it."""

    place: str
    entries: tuple[str, ...]
    """Those that were new."""
    there_before: int
    """Those that were not."""
    problems: tuple[str, ...] = ()
    """Why entries were left out, a sentence for each."""
    beside: tuple[str, ...] = ()
    """Of an import: entries that do not count, because the store recorded the same run itself."""
    now_count: int = 0
    """Of an import that takes over: entries that were there and did not count before."""

    def to_plain(self) -> dict[str, Any]:
        """The exchange as plain data."""
        return {
            "place": self.place,
            "entries": list(self.entries),
            "there_before": self.there_before,
            "problems": list(self.problems),
        }


class Place:
    """A folder somewhere, through fsspec."""

    def __init__(self, address: str) -> None:
        """Reach it.

        Raises:
            UsageError: Nothing is installed that reaches such addresses.
            MachineError: It cannot be reached.
        """
        import fsspec  # takes time to load, and is needed here alone

        self.address = address
        try:
            self._files, root = fsspec.url_to_fs(address)
        except ImportError as error:
            raise UsageError(f"{address} needs a package that is not installed: {error}.") from error
        except ValueError as error:
            raise UsageError(f"{address} is no place that can be reached ({error}).") from error
        except Exception as error:  # drivers raise what they like when an address or its credentials are wrong
            raise MachineError(f"{address} cannot be reached ({_said(error)}).") from error
        self._root = str(root).rstrip("/") or "/"

    @property
    def local(self) -> Path | None:
        """The folder, when it is one of this machine."""
        return Path(self._root) if "file" in _protocols(self._files) else None

    def exists(self, name: str) -> bool:
        """Whether there is a file."""
        with self._reached("asking for", name):
            return bool(self._files.exists(self._path(name)))

    def read(self, name: str) -> bytes:
        """A file's content.

        Raises ``FileNotFoundError`` when it is not there, ``OSError`` when it is too large, or no file but a pipe.
        """
        if self.local is not None:
            path = Path(self._path(name))
            if path.exists() and not path.is_file():
                raise OSError("it is no file")
        with self._reached("reading", name):
            size = self._files.size(self._path(name))
        if size is not None and size > MAX_FOREIGN_BYTES:
            raise OSError(f"it has {size:,} bytes, and one file may have {MAX_FOREIGN_BYTES:,}")
        with self._reached("reading", name):
            content = self._files.cat_file(self._path(name))
            assert isinstance(content, bytes)
            return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file all or nothing."""
        path = self._path(name)
        with self._reached("writing", name):
            self._files.makedirs(posixpath.dirname(path), exist_ok=True)
            if self.local is None:
                self._files.pipe_file(path, content)  # stores of objects show an object when it is complete
                return
            replace_durably(Path(path), content)

    def entries(self) -> list[str]:
        """Names of the entries there."""
        with self._reached("listing", RUNS):
            try:
                found = self._files.ls(self._path(RUNS), detail=False)
            except FileNotFoundError:
                return []
        return sorted(name for name in (posixpath.basename(str(one).rstrip("/")) for one in found) if is_digest(name))

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    @contextmanager
    def _reached(self, doing: str, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:  # drivers raise what they like
            raise MachineError(f"{doing.capitalize()} {name} at {self.address} failed ({_said(error)}).") from error


def _protocols(files: Any) -> tuple[str, ...]:
    protocol = files.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


def _said(error: Exception) -> str:
    return shown(f"{type(error).__name__}: {error}", 200)


def export_runs(store: ResultStore, runs: Iterable[StoredRun], address: str, report: Callable[[int], None]) -> Exchange:
    """Copy runs to a place.

    Args:
        store: Where they are.
        runs: They, as the store gives them.
        address: Of the place: a folder, or an address that fsspec knows.
        report: Told after every run how many are done.

    A run that is damaged is left out and named; the others are copied.

    Raises:
        UsageError: The place cannot be reached, or is a store in use.
        MachineError: Writing failed; giving the same again goes on.
    """
    place = Place(address)
    if place.local is not None and Layout(place.local).index.exists():
        raise UsageError(
            f"{address} is a store in use, into which nothing can be exported; there give: bw store import "
            f"{store.layout.root} --store {address}"
        )
    if place.exists(STORE_FILE):
        _check_schema(place)
    else:
        place.write(STORE_FILE, json.dumps({"schema": schema_of(Kind.STORE)}).encode() + b"\n")
    written, before, problems = [], 0, []
    for number, run in enumerate(runs, 1):
        if place.exists(entry_file(run.entry, ENTRY_FILE)):
            before += 1
        else:
            try:
                _check_sound(store, run)
            except DamagedError as error:
                problems.append(str(error))
            else:
                _export(store, run, place)
                written.append(run.entry)
        report(number)
    return Exchange(place=address, entries=tuple(written), there_before=before, problems=tuple(problems))


def _check_sound(store: ResultStore, run: StoredRun) -> None:
    """Raise `DamagedError` unless everything of a run is what was written, before anything of it is copied."""
    try:
        store.layout.read_entry(run.entry)
    except (ValueError, UnknownSchemaError) as error:
        raise damaged(run, ENTRY_FILE, error) from error
    for name in run.files:
        store.read_file(run.entry, name)


def _export(store: ResultStore, run: StoredRun, place: Place) -> None:
    for name, digest in run.files.items():
        if name == ROWS_FILE:
            place.write(entry_file(run.entry, ROWS_FILE), store.read_file(run.entry, name))
        elif not place.exists(blob_name(digest)):
            place.write(blob_name(digest), store.layout.blob(digest).read_bytes())
    place.write(entry_file(run.entry, ENTRY_FILE), (store.layout.entry(run.entry) / ENTRY_FILE).read_bytes())


def import_runs(
    store: ResultStore, address: str, report: Callable[[int, int], None], *, take_over: bool = False
) -> Exchange:
    """Take in every run of a place that the store does not have; everything that follows from its rows is checked.

    None of them counts for a run that the store recorded itself, unless they are to take over.

    What is not complete, damaged or of an unknown version is left out and named.  Raises `UsageError` when the place
    holds no exported runs or cannot be reached, `MachineError` when the store cannot be written.
    """
    place = Place(address)
    try:
        _check_schema(place)
    except FileNotFoundError:
        raise UsageError(f"{address} holds no {STORE_FILE}; expected what `bw store export` writes.") from None
    known, there = store.layout.names(), place.entries()
    counted = {run.entry for run in store.runs()}
    taken, before = [], 0
    problems: list[str] = []
    found = _entries(place, [name for name in there if name not in known], problems)
    for name in known.intersection(there):
        before += 1
        if take_over:
            store.adopt(name)
    for number, entry in enumerate(found, 1 + len(there) - len(found)):
        name = entry.run.entry
        try:
            new = store.take(entry, *_parts(store.layout, place, entry), take_over=take_over)
        except ValueError as error:
            problems.append(_left_out(name, error))
        else:
            taken += [name] if new else []
            before += not new
        report(number, len(there))
    counting = {run.entry for run in store.runs()}
    return Exchange(
        place=address,
        entries=tuple(taken),
        there_before=before,
        problems=tuple(problems),
        beside=_ends(store, there) if take_over else tuple(run.entry for run in store.beside(taken)),
        now_count=len(counting.intersection(there) - counted - set(taken)),
    )


def _ends(store: ResultStore, names: Iterable[str]) -> tuple[str, ...]:
    """Those of these entries that none of the others replaces, and that do not count even so."""
    wanted = set(names)
    runs = {run.entry: run for run in store.runs(superseded=True) if run.entry in wanted}
    replaced = {run.supersedes for run in runs.values()}
    return tuple(name for name in sorted(runs) if name not in replaced and not store.counts(name))


def _entries(place: Place, names: Iterable[str], problems: list[str]) -> list[Entry]:
    """Entries of a place, each after those that it may replace; adds to the problems why others are left out."""
    found = []
    for name in names:
        try:
            found.append(Entry.from_bytes(place.read(entry_file(name, ENTRY_FILE)), name))
        except FileNotFoundError:
            pass  # without entry.json it is an upload that has not ended
        except (OSError, ValueError, UnknownSchemaError) as error:
            problems.append(_left_out(name, error))
    return sorted(found, key=lambda entry: (entry.generation, entry.run.entry))


def _left_out(name: str, error: Exception) -> str:
    return f"Run {name[:12]} is left out: {shown(str(error), 300).rstrip('.')}."


def _check_schema(place: Place) -> None:
    try:
        document = json.loads(place.read(STORE_FILE))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{STORE_FILE} at {place.address} is no JSON ({error}); export the runs again.") from error
    upgraded(Kind.STORE, document, f"{STORE_FILE} at {place.address}")


def _parts(layout: Layout, place: Place, entry: Entry) -> tuple[bytes | None, dict[str, bytes]]:
    """The file of rows of an entry, and the files of its other contents by digest, checked.

    Raises ``ValueError``, with a clause, for what is not there or not what the entry says.
    """
    rows, blobs = None, {}
    for file, digest in entry.run.files.items():
        if not is_digest(digest):
            raise ValueError(f"its file {shown(file)} has no digest")
        try:
            if file == ROWS_FILE:
                rows = place.read(entry_file(entry.run.entry, ROWS_FILE))
            elif digest not in blobs:
                blobs[digest] = _blob(layout, place, digest)
        except FileNotFoundError:
            raise ValueError(f"its file {shown(file)} is missing") from None
        except OSError as error:
            raise ValueError(f"its file {shown(file)} is damaged ({shown(str(error))})") from error
    return rows, blobs


def _blob(layout: Layout, place: Place, digest: str) -> bytes:
    """The file of a content, from the store when it has it already."""
    if sound_blob(layout.blob(digest), digest):
        return layout.blob(digest).read_bytes()
    packed = place.read(blob_name(digest))
    if digest_of_blob(io.BytesIO(packed), most=most_of_foreign(len(packed))) != digest:
        raise OSError("its digest is another one")
    return packed
