"""Where things are in a store of results, and reading what is there.

store.json                     schema of the store
runs/<entry>/entry.json        the run; written once, moved into place by one rename, never changed
runs/<entry>/rows.parquet      its rows; absent where only scores are known
runs/<entry>/foreign           empty; there when another store recorded the run and this one took it in
blobs/ab/<sha256>.zst          contents of its other files
index.sqlite                   what `index` says of it
.lock                          held while an entry is moved into place
.staging/                      entries in the making
"""

import contextlib
import dataclasses
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.errors import MachineError, UsageError
from benchwright.store.blobs import BLOBS, blob_name, is_digest
from benchwright.store.durable import STAGING, flush, locked, replace_durably
from benchwright.store.entries import ENTRY_FILE, FOREIGN_FILE, ROWS_FILE, Entry
from benchwright.store.upgrades import Kind, UnknownSchemaError, schema_of, upgraded

STORE_FILE = "store.json"
_INDEX = "index.sqlite"
RUNS = "runs"
"""Folder of the entries, below the store's."""
_LOCK = ".lock"


def entry_file(entry: str, name: str) -> str:
    """Where a file of an entry is, below the store's folder."""
    return f"{RUNS}/{entry}/{name}"


@dataclass(frozen=True, slots=True)
class Layout:
    """The folder of a store."""

    root: Path

    @property
    def runs(self) -> Path:
        """Where entries are."""
        return self.root / RUNS

    @property
    def index(self) -> Path:
        """The index."""
        return self.root / _INDEX

    def entry(self, name: str) -> Path:
        """The folder of an entry."""
        return self.runs / name

    def rows(self, name: str) -> Path:
        """The rows of an entry."""
        return self.root / entry_file(name, ROWS_FILE)

    def blob(self, digest: str) -> Path:
        """The file of a content."""
        return self.root / blob_name(digest)

    def foreign(self, name: str) -> Path:
        """What is there when an entry was taken in from elsewhere."""
        return self.root / entry_file(name, FOREIGN_FILE)

    def exists(self) -> bool:
        """Whether there is a store."""
        return (self.root / STORE_FILE).exists()

    def check_usable(self) -> None:
        """Raise `UsageError` unless there is a store that can be read, or one can be made here; writes nothing."""
        self._refuse_links()
        if self.exists():
            self.check_schema()
        elif self.root.is_dir():
            strangers = [path.name for path in self.root.iterdir() if not path.name.startswith(".")]
            if strangers and not self.exists():  # nobody made it meanwhile
                raise UsageError(
                    f"{self.root} is no store of results (it holds {strangers[0]!r:.60} and no {STORE_FILE}); name "
                    f"another folder with --store, or an empty one."
                )
        elif self.root.exists():
            raise UsageError(f"{self.root} is a file, and a store of results is a folder; name another with --store.")

    def create(self) -> None:
        """Make an empty store where there is none; raises `UsageError` where there can be none."""
        self.check_usable()
        if self.index.is_dir():
            raise UsageError(
                f"{self.index} is a folder, where the store's index should be; move it away, and one is made anew."
            )
        if self.exists():
            self.runs.mkdir(exist_ok=True)  # whoever made the store may have been killed before this
            return
        self.root.mkdir(parents=True, exist_ok=True)
        with self.locked():
            if not self.exists():
                document = {"schema": schema_of(Kind.STORE)}
                replace_durably(self.root / STORE_FILE, json.dumps(document).encode() + b"\n")
                flush(self.root.parent)
            self.runs.mkdir(exist_ok=True)
            flush(self.root)

    def _refuse_links(self) -> None:
        """Raise `UsageError` where a part of the store is a link: what is written or removed there is elsewhere."""
        parts = [self.root / name for name in (STORE_FILE, RUNS, BLOBS, STAGING, _LOCK, _INDEX)]
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(self.root / BLOBS) as blobs:
            parts += [Path(one.path) for one in blobs if one.is_symlink()]
        for path in parts:
            if path.is_symlink():
                raise UsageError(
                    f"{path} is a link, and a store of results has none in it; put there what it leads to, or make "
                    f"the whole store's folder a link."
                )

    def check_schema(self) -> None:
        """Raise `UsageError` when this version cannot read the store."""
        path = self.root / STORE_FILE
        if path.exists() and not path.is_file():  # reading a named pipe would wait without end
            raise UsageError(f"{path} is no file; name another folder with --store.")
        try:
            document = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(
                f"{path} cannot be read ({error}); put the line "
                f'{{"schema": {schema_of(Kind.STORE)}}} there if the store is of this version.'
            ) from error
        upgraded(Kind.STORE, document, path)

    def names(self) -> set[str]:
        """All entries there are, by the listing of the folder alone."""
        try:
            return {path.name for path in self.runs.iterdir() if is_digest(path.name)}
        except FileNotFoundError:
            return set()

    def read_entry(self, name: str) -> Entry:
        """Read an entry.

        Raises:
            UnknownSchemaError: A version that is not known wrote it.
            ValueError: It is damaged, or not completely there; the message is a clause.
        """
        path = self.entry(name) / ENTRY_FILE
        if path.is_symlink() or path.parent.is_symlink():
            raise ValueError(f"it, or its {ENTRY_FILE}, is a link")
        if path.exists() and not path.is_file():
            raise ValueError(f"its {ENTRY_FILE} is no file")
        try:
            data = path.read_bytes()
            foreign = self.foreign(name).exists()
        except OSError as error:
            raise ValueError(f"{ENTRY_FILE} cannot be read ({error.strerror})") from error
        return dataclasses.replace(Entry.from_bytes(data, name), foreign=foreign)

    def read_entries(self, names: set[str]) -> tuple[list[Entry], dict[str, str]]:
        """The entries that can be read, and for the others why not, in a sentence."""
        found, damaged = [], {}
        for name in sorted(names):
            try:
                found.append(self.read_entry(name))
            except UnknownSchemaError as error:
                damaged[name] = str(error)
            except ValueError as error:
                damaged[name] = f"Run {name[:12]} of the store is left out: {error}."
        return found, damaged

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the store for moving something into place, or away."""
        with locked(self.root / _LOCK):
            yield


@contextlib.contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn trouble with the disk into `MachineError`."""
    try:
        yield
    except OSError as error:
        raise MachineError(
            f"{doing} failed ({error.strerror or error}); what was there before is unharmed, do it again once that is "
            f"mended."
        ) from error
