"""Looking after a store: what is damaged in it, and what nobody needs any more."""

import dataclasses
import hashlib
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.store.blobs import BLOBS, digest_of_blob, is_digest
from benchwright.store.durable import STAGING, abandoned_stages, flush
from benchwright.store.entries import ENTRY_FILE, ROWS_FILE, Entry
from benchwright.store.finding import shown
from benchwright.store.index import Index, IndexUnusableError
from benchwright.store.layout import Layout
from benchwright.store.upgrades import UnknownSchemaError


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """What was cleared away, or would be."""

    dry_run: bool
    stages: int
    """Hidden folders of writers that are gone, and half-written entries."""
    superseded: int
    """Entries that another one of the same run replaces."""
    blobs: int
    """Contents that no entry names."""
    freed_bytes: int
    kept_blobs: str = ""
    """Why contents were left alone, or empty."""

    def to_plain(self) -> dict[str, Any]:
        """The object of ``bw store gc --json``."""
        return dataclasses.asdict(self)


def damage(layout: Layout) -> Iterator[str]:
    """Everything in a store that is not what it was when it was written, a sentence for each."""
    entries: list[Entry] = []
    sound: dict[str, str | None] = {}
    named = set()
    for name in sorted(layout.names()):
        try:
            entry = layout.read_entry(name)
        except UnknownSchemaError as error:
            named.add(name)
            yield str(error)
            continue
        except ValueError as error:
            named.add(name)
            yield f"Run {name[:12]}: {error}."
            continue
        entries.append(entry)
        yield from _damage_of(layout, entry, sound)
    yield from _index_damage(layout, entries, named)


def _damage_of(layout: Layout, entry: Entry, sound: dict[str, str | None]) -> Iterator[str]:
    run = entry.run
    who = f"Run {run.entry[:12]} ({shown(run.model)})"
    for name, digest in run.files.items():
        if name == ROWS_FILE:
            why = _why_not(layout.rows(run.entry), digest, packed=False)
        else:
            if digest not in sound:
                sound[digest] = _why_not(layout.blob(digest), digest, packed=True) if is_digest(digest) else "no digest"
            why = sound[digest]
        if why is not None:
            yield f"{who}: {shown(name)} {why}."
    if ROWS_FILE not in run.files and layout.rows(run.entry).exists():
        yield f"{who}: there is a {ROWS_FILE} that the run does not have."


def _why_not(path: Path, digest: str, *, packed: bool) -> str | None:
    try:
        found = digest_of_blob(path) if packed else hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({shown(str(error), 120)})"
    return None if found == digest else "has been changed since it was written"


def _index_damage(layout: Layout, entries: Iterable[Entry], named: set[str]) -> Iterator[str]:
    """Where the index says something else than the entries, those left aside that have been named as damaged.

    One that is not there is made when the store is used, and an export has none.
    """
    if not layout.index.exists():
        return
    right = Index(None)
    right.add(entries)
    try:
        index = Index(layout.index, read_only=True)
    except IndexUnusableError as error:
        yield f"The index cannot be used ({error}); it is made anew when the store is opened next."
        return
    try:
        wrong = {row[0] for row in set(index.dump()) ^ set(right.dump())}
    finally:
        index.close()
        right.close()
    for name in sorted(wrong - named):
        yield f"The index does not say of run {str(name)[:12]} what its entry says; delete index.sqlite."


def cleaned(layout: Layout, *, superseded: Iterable[str], dry_run: bool) -> Cleaning:
    """Clear away what no writer needs any more; the store's lock must be held.

    Args:
        layout: The store's.
        superseded: Entries to drop, which the caller has made sure do not count.
        dry_run: Only say what would go.
    """
    dropped = set(superseded)
    names = layout.names()
    halves = [layout.entry(name) for name in sorted(names) if not _has_entry(layout, name)]
    stages = [*abandoned_stages(layout.root), *halves]
    going = [*stages, *(layout.entry(name) for name in sorted(dropped))]
    freed = sum(map(_bytes, going))
    blobs, why = _needless_blobs(layout, names - dropped - {path.name for path in halves})
    freed += sum(path.stat().st_size for path in blobs)
    if not dry_run:
        for path in going:
            _remove(layout, path)
        for path in blobs:
            path.unlink()
    return Cleaning(
        dry_run=dry_run,
        stages=len(stages),
        superseded=len(dropped),
        blobs=len(blobs),
        freed_bytes=freed,
        kept_blobs=why,
    )


def _has_entry(layout: Layout, name: str) -> bool:
    return layout.entry(name).is_symlink() or any(layout.entry(name).glob(ENTRY_FILE))


def _needless_blobs(layout: Layout, names: set[str]) -> tuple[list[Path], str]:
    """Contents that none of the entries names, and why there may be no telling."""
    entries, unreadable = layout.read_entries(names)
    if unreadable:
        return [], (
            f"{len(unreadable)} runs cannot be read, so that nobody knows which contents they need; none was removed."
        )
    needed = {digest for entry in entries for name, digest in entry.run.files.items() if name != ROWS_FILE}
    there = sorted((layout.root / BLOBS).glob("??/*"))
    return [path for path in there if path.name.removesuffix(".zst") not in needed], ""


def _bytes(path: Path) -> int:
    return sum(file.lstat().st_size for file in [path, *path.rglob("*")] if file.is_file())


def _remove(layout: Layout, path: Path) -> None:
    """Take a folder out of sight by one rename, then remove it."""
    if path.parent == layout.runs:
        place = layout.root / STAGING
        place.mkdir(exist_ok=True)
        path = path.rename(place / path.name)
        flush(layout.runs)
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
