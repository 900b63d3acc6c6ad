"""Trees of files as values: packed as archives, written to folders and read back, without following a link."""

import io
import os
import stat
import tarfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.environments.repositories.base_tree import FILE, LINK, PROGRAM, BaseTree, read_archive

Tree = dict[str, tuple[str, bytes]]
"""Mode and content (of a link: its target) by path."""


def tree(**texts: str) -> Tree:
    """Plain files by path; two underscores stand for a slash, and one at the end for nothing."""
    return {name.replace("__", "/").rstrip("_"): (FILE, text.encode()) for name, text in texts.items()}


def packed(files: Tree, *, others: Iterable[tarfile.TarInfo] = (), seconds: int = 946_684_800) -> io.BytesIO:
    """An archive of a tree, and of members that are given as they are."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", encoding="utf-8", errors="surrogateescape") as archive:
        for path, (mode, content) in files.items():
            member = tarfile.TarInfo(path)
            member.mtime = seconds
            member.mode = 0o755 if mode == PROGRAM else 0o644
            if mode == LINK:
                member.type, member.linkname = tarfile.SYMTYPE, os.fsdecode(content)
                archive.addfile(member)
            else:
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        for member in others:
            archive.addfile(member)
    out.seek(0)
    return out


@dataclass(frozen=True)
class Start:
    """A start tree, and what it was made of."""

    base: BaseTree
    files: Tree


def archived_tree(archive: Path, *, tracked: Collection[str]) -> BaseTree:
    """The base tree that an archive holds, which must stay as long as the tree is used."""
    with archive.open("rb") as file:
        members = read_archive(file, wanted=tracked).files

    def read(name: str) -> bytes:
        with archive.open("rb") as file:
            return members[name].content(file)

    return BaseTree.of(frozenset(tracked), {name: member.stamp for name, member in members.items()}, read)


def start(folder: Path, files: Tree, set_up: Tree | None = None) -> Start:
    """The start tree of a repository with these files, and others that set-up made."""
    archive = folder / "start.tar"
    archive.write_bytes(packed({**files, **(set_up or {})}).getvalue())
    return Start(archived_tree(archive, tracked=files.keys()), {**files, **(set_up or {})})


def write(files: Mapping[str, tuple[str, bytes]], folder: Path) -> None:
    """Put a tree into a folder."""
    for path, (mode, content) in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if mode == LINK:
            place.symlink_to(os.fsdecode(content))
        else:
            place.write_bytes(content)
            place.chmod(0o755 if mode == PROGRAM else 0o644)


def read(folder: Path) -> Tree:
    """The tree in a folder, less git's own."""
    found: Tree = {}
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in [*names, *(name for name in folders if Path(parent, name).is_symlink())]:
            path = Path(parent, name)
            status = path.lstat()
            if stat.S_ISLNK(status.st_mode):
                found[str(path.relative_to(folder))] = LINK, os.fsencode(os.readlink(path))  # noqa: PTH115
            else:
                mode = PROGRAM if status.st_mode & stat.S_IXUSR else FILE
                found[str(path.relative_to(folder))] = mode, path.read_bytes()
    return found
