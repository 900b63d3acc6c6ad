"""What an entry holds besides its description, on the way to the disk: rows, and contents of files."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.errors import UsageError
from benchwright.core.results import StoredRun
from benchwright.core.runs import ResultRow
from benchwright.store.blobs import sound_blob, write_blob
from benchwright.store.durable import Stage, flush, write_durably
from benchwright.store.entries import ENTRY_FILE, ROWS_FILE, Entry
from benchwright.store.folder import MANIFEST
from benchwright.store.layout import Layout


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The contents of an entry's files besides its rows."""

    contents: Mapping[str, bytes]
    """By digest."""
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Digest by name."""
    packed: bool = False
    """Whether the contents are as they stand in blobs' files: compressed, and checked by whoever read them."""

    @classmethod
    def read(cls, run: StoredRun, files: Mapping[str, Path | bytes]) -> "Parts":
        """Read files, and make the manifest's of the run where it is not among them."""
        contents = {name: file if isinstance(file, bytes) else file.read_bytes() for name, file in files.items()}
        if run.manifest and MANIFEST not in contents:
            contents[MANIFEST] = json.dumps(dict(run.manifest), indent=2).encode() + b"\n"
        names = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
        return cls(contents={names[name]: content for name, content in contents.items()}, names=names)

    def digests(self) -> dict[str, str]:
        """A new mapping of digest by name."""
        return dict(self.names)

    def check(self, entry: Entry, rows: bytes | None) -> None:
        """Raise ``ValueError`` unless this is all that an entry names, and as it says."""
        wanted = dict(entry.run.files)
        said = wanted.pop(ROWS_FILE, None)
        found = None if rows is None else hashlib.sha256(rows).hexdigest()
        if said != found:
            raise ValueError(f"{ROWS_FILE} is not what the entry says")
        for name, digest in wanted.items():
            if digest not in self.contents:
                raise ValueError(f"its file {name!r:.80} is missing, or not what the entry says")

    def write(self, stage: Stage, layout: Layout) -> None:
        """Have every content on the disk, in the stage where it is not in the store already."""
        for digest, content in self.contents.items():
            if not sound_blob(layout.blob(digest), digest):
                self._write(stage.blobs / digest, content)

    def move_in(self, stage: Stage, layout: Layout) -> None:
        """Put every content in its place; the store's lock must be held."""
        folders = set()
        for digest, content in self.contents.items():
            target, staged = layout.blob(digest), stage.blobs / digest
            if not staged.exists():
                if target.exists():
                    continue
                self._write(staged, content)  # it was in the store a moment ago, and was cleared away since
            target.parent.mkdir(parents=True, exist_ok=True)
            staged.replace(target)
            folders |= {target.parent, target.parent.parent}
        for folder in folders:
            flush(folder)
        if folders:
            flush(layout.root)

    def _write(self, path: Path, content: bytes) -> None:
        if self.packed:
            write_durably(path, content)
            return
        write_blob(path, content)
        flush(path)


def write_rows_durably(stage: Stage, rows: Sequence[ResultRow]) -> str:
    """Write the rows of an entry in the making; returns the file's digest."""
    from benchwright.store.row_tables import write_rows

    path = stage.entry / ROWS_FILE
    write_rows(path, rows)
    flush(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_whole(run: StoredRun, rows: Sequence[ResultRow], files: Mapping[str, Path | bytes]) -> None:
    """Raise `UsageError` unless a run, its rows and its files fit together."""
    there, said = {row.score for row in rows}, set(run.scores)
    if there != said:
        raise UsageError(
            f"The run says that it has rows of {', '.join(sorted(said)) or 'no score'}, but they are of "
            f"{', '.join(sorted(there)) or 'none'}; both must be the same."
        )
    keys = {(row.problem_id, row.sample, row.score) for row in rows}
    if len(keys) != len(rows):
        raise UsageError(f"{len(rows) - len(keys)} rows are given twice for the same problem, sample and score.")
    for name in files:
        if name in (ROWS_FILE, ENTRY_FILE):
            raise UsageError(f"A file of a run cannot be called {name}: the store keeps its own under that name.")
