"""Repositories without a future: the history of a base commit and nothing later, shared between instances.

A `HistoryStore` keeps, per repository, one pack for each base commit: the objects that the base and the tags merged
into it reach and that no stored ancestor of it reaches.  An instance is given its own pack and those of the stored
ancestors, as hard links; all of them hold nothing but objects of the base's own past.  What belongs to that past is
decided by reachability alone; dates are not looked at.

Packing is done from a scratch repository that borrows the source's objects for one command, so the source is not
written to and no borrowing is left behind.
"""

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.environments.environment import exclusive
from benchwright.environments.repositories.files import told_plainly, write_at_once
from benchwright.environments.repositories.git import GitError, git, make_empty_repository
from benchwright.environments.repositories.sources import Source, open_source, slug

MANIFEST_SCHEMA = 1

TAG_DIGITS = 12
"""Digits of the tags' digest in a manifest's name: the same base may be met with other tags in another clone."""

UNFINISHED = "building-"
"""Start of the names of scratch folders; one that is there while nobody holds the lock was interrupted."""

PACK_NAME = re.compile(r"pack-[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The stored past of one base commit: what a checkout of it is made from."""

    repo: str
    base: str
    tags: tuple[tuple[str, str], ...]
    """Name and object id of each tag that is merged into the base, sorted; annotated tags by their tag object."""
    packs: tuple[Path, ...]
    """The ``.pack`` files that together hold exactly the objects of base and tags; each has its ``.idx`` beside it.
    They never change."""

    @property
    def size_bytes(self) -> int:
        """Size of all its packs and their indexes; what other histories share with it is counted too."""
        return sum(file.stat().st_size for pack in self.packs for file in (pack, pack.with_suffix(".idx")))


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryStore:
    """Histories below one folder; several processes may use it at once, and any of them may die at any point."""

    folder: Path

    def add(self, repo: str, place: str | Path, bases: Iterable[str]) -> dict[str, History]:
        """The histories of these base commits, by base; those that are not stored yet are packed, oldest first.

        Asking for all bases of a repository at once takes the least space.  Tags come from the source as it is now: a
        base whose merged tags differ from those stored gets a history of its own.

        Args:
            repo: ``owner/name``.
            place: A local clone or mirror, which is only read, or an address, which is cloned once into the store.
            bases: Commits, as 40 hexadecimal digits.

        Raises `UsageError` when the place is no repository or lacks something, `MachineError` when git fails or the
        disk is full.  Git LFS contents and submodules are not fetched.
        """
        shelf = _Shelf(folder=self.folder / slug(repo))
        wanted = list(dict.fromkeys(bases))
        found: dict[str, _Stored] = {}
        if not wanted:
            return {}
        with told_plainly(f"store the history of {repo}"):
            shelf.packs.mkdir(parents=True, exist_ok=True)
            shelf.manifests.mkdir(exist_ok=True)
            with exclusive(shelf.folder, wait=True):
                stored = shelf.stored()
                shelf.remove_leftovers(stored)
                source = open_source(repo, place, wanted, clones=self.folder / "clones")
                past = _read_past(source, wanted, shelf)
                for base in past.oldest_first(wanted):
                    found[base] = _ensure(shelf, source, past, base, stored)
        return {base: shelf.history(repo, found[base]) for base in wanted}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    """One manifest."""

    base: str
    tags: Mapping[str, str]
    packs: tuple[str, ...]
    """Names without suffix: those of the stored ancestors, then its own unless that would be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shelf:
    """One repository's folder in the store."""

    folder: Path

    @property
    def packs(self) -> Path:
        return self.folder / "packs"

    @property
    def manifests(self) -> Path:
        return self.folder / "bases"

    def stored(self) -> list[_Stored]:
        """All sound manifests; one that lacks a pack counts as not there, and is written anew when it is needed."""
        manifests = (self.read(path) for path in sorted(self.manifests.glob("*.json")))
        return [manifest for manifest in manifests if manifest is not None]

    def remove_leftovers(self, stored: Iterable[_Stored]) -> None:
        """Remove what interrupted builds left; only for who holds the lock."""
        for folder in self.folder.glob(f"{UNFINISHED}*"):
            shutil.rmtree(folder)
        used = {name for manifest in stored for name in manifest.packs}
        for path in self.packs.iterdir():
            if path.stem not in used:
                path.unlink()

    def read(self, path: Path) -> _Stored | None:
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["schema"] != MANIFEST_SCHEMA or not all(self._is_whole(pack) for pack in data["packs"]):
                return None
            names = tuple(pack["name"] for pack in data["packs"])
            return _Stored(base=data["base"], tags=dict(data["tags"]), packs=names)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def write(self, manifest: _Stored) -> None:
        packs = [{"name": name, "bytes": self._pack(name).stat().st_size} for name in manifest.packs]
        data = {"schema": MANIFEST_SCHEMA, "base": manifest.base, "tags": dict(manifest.tags), "packs": packs}
        write_at_once(self.manifest_path(manifest.base, manifest.tags), json.dumps(data, indent=1, sort_keys=True))

    def manifest_path(self, base: str, tags: Mapping[str, str]) -> Path:
        return self.manifests / f"{base}-{digest_of(dict(tags))[:TAG_DIGITS]}.json"

    def history(self, repo: str, manifest: _Stored) -> History:
        packs = tuple(self._pack(name) for name in manifest.packs)
        return History(repo=repo, base=manifest.base, tags=tuple(sorted(manifest.tags.items())), packs=packs)

    def keep(self, pack: Path) -> str:
        """Move a finished pack in, index first: a pack counts from the moment its manifest is there."""
        for suffix in (".idx", ".pack"):
            pack.with_suffix(suffix).rename(self._pack(pack.stem).with_suffix(suffix))
        return pack.stem

    def _pack(self, name: str) -> Path:
        return self.packs / f"{name}.pack"

    def _is_whole(self, pack: Mapping[str, object]) -> bool:
        name, size = str(pack["name"]), pack["bytes"]
        path = self._pack(name)
        if not PACK_NAME.fullmatch(name) or not path.with_suffix(".idx").is_file():
            return False
        return path.is_file() and path.stat().st_size == size


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """Who descends from whom, and which tags lie where, among the commits that the wanted bases reach."""

    parents: Mapping[str, tuple[str, ...]]
    """Oldest first: parents stand before their children."""
    tags: Mapping[str, str]
    """Object id by name."""
    tagged: Mapping[str, str]
    """Commit by the tag's object id; tags that point at no commit are left out."""

    def ancestors(self, base: str) -> frozenset[str]:
        """The base and everything before it."""
        seen = {base}
        waiting = [base]
        while waiting:
            fresh = [parent for parent in self.parents[waiting.pop()] if parent not in seen]
            seen.update(fresh)
            waiting.extend(fresh)
        return frozenset(seen)

    def merged_tags(self, ancestors: frozenset[str]) -> dict[str, str]:
        return {name: tag for name, tag in self.tags.items() if self.tagged.get(tag) in ancestors}

    def oldest_first(self, bases: Iterable[str]) -> list[str]:
        wanted = set(bases)
        return [commit for commit in self.parents if commit in wanted]


def _read_past(source: Source, bases: list[str], shelf: _Shelf) -> _Past:
    with _scratch(shelf) as scratch:
        lines = git(
            scratch,
            *("rev-list", "--parents", "--topo-order", "--reverse", "--stdin"),
            what=f"read the history of {source.repo} in {source.place}",
            stdin="".join(f"{base}\n" for base in bases),
            environ=_borrowing(source),
        ).splitlines()
    parents = {commit: tuple(others) for commit, *others in (line.split(" ") for line in lines)}
    tags = source.tags()
    return _Past(parents=parents, tags=tags, tagged=source.peeled(tags.values()))


def _ensure(shelf: _Shelf, source: Source, past: _Past, base: str, stored: list[_Stored]) -> _Stored:
    """The base's manifest, written and appended to ``stored`` when it is not among them."""
    ancestors = past.ancestors(base)
    tags = past.merged_tags(ancestors)
    before = [one for one in stored if one.base in ancestors and one.tags.items() <= tags.items()]
    for manifest in before:
        if manifest.base == base and manifest.tags == tags:
            return manifest
    own = _pack(shelf, source, base, tags, before)
    inherited = {name for one in before for name in one.packs}
    manifest = _Stored(base=base, tags=tags, packs=tuple(sorted(inherited.union(own))))
    shelf.write(manifest)
    stored.append(manifest)
    return manifest


def _pack(
    shelf: _Shelf, source: Source, base: str, tags: Mapping[str, str], before: Iterable[_Stored]
) -> tuple[str, ...]:
    """Pack what the base adds to the stored ancestors; nothing when it adds nothing (the same base, fewer tags)."""
    known = {object_id for stored in before for object_id in (stored.base, *stored.tags.values())}
    wanted = [object_id for object_id in (base, *sorted(set(tags.values()))) if object_id not in known]
    lines = (*wanted, *(f"^{object_id}" for object_id in sorted(known)))
    with _scratch(shelf) as scratch:
        try:
            git(
                scratch,
                *("pack-objects", "--revs", "--non-empty", "--delta-base-offset", "--quiet"),
                scratch / "objects/pack/pack",
                what=f"pack the history of {base} from {source.place}",
                stdin="".join(f"{line}\n" for line in lines),
                environ=_borrowing(source),
            )
        except GitError as error:
            raise _explained(error, source, base) from error
        return tuple(shelf.keep(pack) for pack in (scratch / "objects/pack").glob("*.pack"))


def _explained(error: GitError, source: Source, base: str) -> Exception:
    lacking = re.search(r"(?:unable to read|could not read|bad (?:tree|blob) object) ([0-9a-f]{40})", str(error), re.I)
    if not lacking:
        return error
    return UsageError(
        f"{source.place} lacks the object {lacking[1]} of the past of {base} of {source.repo}; "
        "name a full clone, made without --filter."
    )


@contextlib.contextmanager
def _scratch(shelf: _Shelf) -> Iterator[Path]:
    """An empty repository in the shelf's own file system, removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=shelf.folder))
    try:
        make_empty_repository(folder)
        yield folder
    finally:
        shutil.rmtree(folder)


def _borrowing(source: Source) -> dict[str, str]:
    """Let one command read the source's objects; quoted, because git splits the variable at colons."""
    quoted = os.fspath(source.objects).replace("\\", r"\\").replace('"', r"\"")
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{quoted}"'}
