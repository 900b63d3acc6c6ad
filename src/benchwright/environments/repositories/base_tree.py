"""The files of a repository as an agent is handed them, and folders packed as archives, read without unpacking.

Nothing of a tree is ever put at a path of this machine: files are known by name, mode, size and the id that git gives
their content, and their bytes are read where they lie, in a layer or in an archive.
"""

import hashlib
import os
import stat
import tarfile
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from benchwright.core.errors import MachineError, SandboxFault
from benchwright.core.repositories import WORK
from benchwright.environments.repositories.files import told_plainly
from benchwright.environments.repositories.git import git
from benchwright.environments.repositories.sealing import is_opaque

FILE, PROGRAM, LINK = "100644", "100755", "120000"
"""The modes that git tells apart: only the owner's right to execute counts."""

GIT_FOLDER = ".git"

MOST_FILES = 300_000
"""Of an archive; of more only those are read that the start tree has.  A repository with its dependencies of
JavaScript has 50,000; a quarter of a kilobyte is kept of each."""

_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Stamp:
    """What is known of a file without reading it."""

    mode: str
    size: int
    seconds: int
    """When it was written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseFile:
    """One file of the base commit as the agent is handed it."""

    mode: str
    size: int
    blob: str
    """Git's id of its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseTree:
    """What an agent is handed: the base commit's files, some of them edited by set-up, and what set-up made."""

    tracked: frozenset[str]
    """Paths of the base commit."""
    files: Mapping[str, BaseFile]
    """Those of them that are there, by path."""
    set_up: Mapping[str, Stamp]
    """All other files that are there, by path."""
    read: Callable[[str], bytes]
    """The bytes of one of ``files``, or the target of a link; may be called from any thread."""

    @classmethod
    def from_layers(cls, layers: Sequence[Path], *, commit: str, work: str = WORK) -> "BaseTree":
        """The tree of a built instance.

        Args:
            layers: Folders, the lowest first, as an `Image` has them.
            commit: The base commit, as 40 hexadecimal digits.
            work: Where the repository lies inside.

        Raises `MachineError` when a layer cannot be read or none has the repository.
        """
        places = [layer / work.strip("/") for layer in layers]
        with told_plainly("read the files of an instance"):
            git_dir = next((place / GIT_FOLDER for place in reversed(places) if (place / GIT_FOLDER).is_dir()), None)
            if git_dir is None:
                raise MachineError(f"None of the {len(layers)} layers has a repository at {work}.")
            listed = git(git_dir, "ls-tree", "-r", "--name-only", "-z", commit, what="list the base commit's files")
            found = dict(_flat(_overlaid(places), ""))
            paths = {name: one.path for name, one in found.items()}
            stamps = {name: one.stamp for name, one in found.items()}
            return cls.of(frozenset(listed.split("\0")) - {""}, stamps, lambda name: _content(paths[name]))

    @classmethod
    def of(cls, tracked: frozenset[str], stamps: Mapping[str, Stamp], read: Callable[[str], bytes]) -> "BaseTree":
        """The tree out of the base commit's paths, everything that is there, and how a file is read."""
        files = {}
        for name in tracked & stamps.keys():
            content = read(name)
            files[name] = BaseFile(mode=stamps[name].mode, size=len(content), blob=blob_id(content))
        set_up = {name: stamp for name, stamp in stamps.items() if name not in tracked}
        return cls(tracked=tracked, files=files, set_up=set_up, read=read)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A file or link of a layer."""

    path: Path
    stamp: Stamp


_Folder = dict[str, "_Leaf | _Folder"]


def _overlaid(places: Sequence[Path]) -> _Folder:
    """What an overlay of folders shows, the lowest first: without git's own folder at the top."""
    tree: _Folder = {}
    for place in places:
        if not os.path.lexists(place):
            continue
        if not stat.S_ISDIR(place.lstat().st_mode) or is_opaque(place):
            tree.clear()
        if stat.S_ISDIR(place.lstat().st_mode):
            _lay_over(place, tree)
    tree.pop(GIT_FOLDER, None)
    return tree


def _lay_over(folder: Path, tree: _Folder) -> None:
    with os.scandir(folder) as found:
        entries = list(found)
    for entry in entries:
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            path = folder / entry.name
            below = tree.get(entry.name)
            if not isinstance(below, dict) or is_opaque(path):
                below = tree[entry.name] = {}
            _lay_over(path, below)
        elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
            mode = LINK if stat.S_ISLNK(status.st_mode) else _mode(status.st_mode)
            stamp = Stamp(mode, status.st_size, int(status.st_mtime))
            tree[entry.name] = _Leaf(folder / entry.name, stamp)
        else:
            tree.pop(entry.name, None)  # a white-out, or what no repository can hold


def _flat(folder: _Folder, prefix: str) -> Iterator[tuple[str, _Leaf]]:
    for name, entry in folder.items():
        if isinstance(entry, dict):
            yield from _flat(entry, f"{prefix}{name}/")
        else:
            yield prefix + name, entry


def _content(path: Path) -> bytes:
    if path.is_symlink():
        return os.fsencode(os.readlink(path))  # noqa: PTH115  Path would drop "./" and doubled slashes
    return path.read_bytes()


def _mode(bits: int) -> str:
    return PROGRAM if bits & stat.S_IXUSR else FILE


def blob_id(content: bytes) -> str:
    """The id that git gives a file's content."""
    return _new_blob(len(content), content).hexdigest()


def _new_blob(size: int, start: bytes = b"") -> "hashlib._Hash":
    return hashlib.sha1(b"blob %d\0" % size + start, usedforsecurity=False)


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file or link of an archive."""

    stamp: Stamp
    offset: int
    """Where its bytes begin in the archive."""
    target: str | None = None
    """Where a link points to; None for a file."""
    holes: tarfile.TarInfo | None = None
    """How to read a file that is stored without its holes."""

    def content(self, archive: BinaryIO) -> bytes:
        """All its bytes, or a link's target; raises `SandboxFault` when the archive lacks some."""
        return b"".join(self.chunks(archive))

    def blob(self, archive: BinaryIO) -> str:
        """Git's id of its content; raises `SandboxFault` when the archive lacks some of it."""
        blob = _new_blob(self.stamp.size)
        for chunk in self.chunks(archive):
            blob.update(chunk)
        return blob.hexdigest()

    def chunks(self, archive: BinaryIO) -> Iterator[bytes]:
        """Its bytes in pieces of a bounded size."""
        if self.target is not None:
            yield os.fsencode(self.target)
            return
        if self.holes is not None:
            archive.seek(0)
            with _opened(archive) as opened, tarfile.ExFileObject(opened, self.holes) as source:
                yield from _pieces(source, self.stamp.size)
            return
        archive.seek(self.offset)
        yield from _pieces(archive, self.stamp.size)


def _pieces(source: BinaryIO, size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = source.read(min(left, _CHUNK))
        if not chunk:
            raise SandboxFault("the archive of the repository's files ends in the middle of one")
        left -= len(chunk)
        yield chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedTree:
    """What an archive holds."""

    files: Mapping[str, ArchivedFile]
    """Files and links by path; other names of one file are files of their own."""
    others: tuple[str, ...]
    """Paths of what is neither a file, a folder nor a link."""
    unread: int
    """Files beyond the number that is read."""


def read_archive(archive: BinaryIO, *, wanted: Container[str], most: int = MOST_FILES) -> ArchivedTree:
    """The files of a tar archive, with git's own folder at the top left out.

    Args:
        archive: A file in which places can be sought.
        wanted: Paths that are read also when there are too many.
        most: Files that are read.

    Raises `SandboxFault` when it is no archive, not whole, or names something outside of its folder.
    """
    files: dict[str, ArchivedFile] = {}
    others = []
    unread = 0
    archive.seek(0)
    with _opened(archive) as opened:
        for member in _members(opened):
            name = _relative(member.name)
            if not name or name.split("/", 1)[0] == GIT_FOLDER or member.isdir():
                continue
            one = _archived(member, files)
            if one is None:
                others.append(name)
            elif len(files) < most or name in wanted:
                files[name] = one
            else:
                unread += 1
        end = opened.offset
    archive.seek(end)
    if archive.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise SandboxFault("the archive of the repository's files has no end, so some of them may be missing")
    return ArchivedTree(files=files, others=tuple(others[:most]), unread=unread + max(len(others) - most, 0))


def _opened(archive: BinaryIO) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=archive, mode="r:", encoding="utf-8", errors="surrogateescape")
    except tarfile.TarError as error:
        raise SandboxFault(f"the repository's files did not come as an archive: {error}") from error


def _members(opened: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    while True:
        try:
            member = opened.next()
        except tarfile.TarError as error:
            raise SandboxFault(f"the archive of the repository's files cannot be read: {error}") from error
        if member is None:
            return
        opened.members.clear()  # type: ignore[attr-defined]  # otherwise it keeps a kilobyte of each
        yield member


def _archived(member: tarfile.TarInfo, files: Mapping[str, ArchivedFile]) -> ArchivedFile | None:
    if member.issym():
        size = len(os.fsencode(member.linkname))
        return ArchivedFile(Stamp(LINK, size, int(member.mtime)), 0, target=member.linkname)
    if member.islnk():
        return files.get(_relative(member.linkname))
    if not member.isreg():
        return None
    stamp = Stamp(_mode(member.mode), member.size, int(member.mtime))
    return ArchivedFile(stamp, member.offset_data, holes=member if member.issparse() else None)


def _relative(name: str) -> str:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts:
        raise SandboxFault(f"the archive of the repository's files names {name!r}, which is outside of its folder")
    return "/".join(parts)
