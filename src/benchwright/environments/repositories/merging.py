"""Layers made of folders: what a workspace wrote put on top of what it was written over, or a folder less another."""

import filecmp
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from benchwright.environments.repositories.layers import remove_tree
from benchwright.environments.repositories.sealing import is_opaque, make_opaque


def merge(upper: Path, onto: Path, *, below: Sequence[Path]) -> None:
    """Move everything of ``upper`` into ``onto``, where it replaces what has the same path.

    Args:
        upper: What overlayfs kept, with white-outs and opaque folders; empty afterwards.
        onto: The uppermost of the folders that it was written over.
        below: The folders under that one, in any order.  A white-out stays where one of them has the path.

    The order of owners and permissions: a folder that is in both gets those of ``upper``.  Raises ``OSError``.
    """
    if is_opaque(upper):
        _empty(onto)
    with os.scandir(upper) as found:
        names = sorted(entry.name for entry in found)
    for name in names:
        _merge_one(upper / name, onto / name, [folder / name for folder in below])


def _merge_one(source: Path, target: Path, below: list[Path]) -> None:
    status = source.lstat()
    hidden = any(os.path.lexists(path) for path in below)
    if stat.S_ISCHR(status.st_mode) and status.st_rdev == 0:
        remove_tree(target)
        if hidden:
            source.rename(target)
        else:
            source.unlink()
        return
    if not stat.S_ISDIR(status.st_mode):
        remove_tree(target)
        source.rename(target)
        return
    if not target.is_dir() or target.is_symlink():
        _replace_by_folder(source, target, hidden)
        return
    opaque = is_opaque(source)
    folders = [path for path in below if path.is_dir() and not path.is_symlink()]
    merge(source, target, below=[] if opaque else folders)
    if opaque and hidden:
        make_opaque(target)
    _copy_owner(target, status)
    source.rmdir()


def _replace_by_folder(source: Path, target: Path, hidden: bool) -> None:
    """Move a folder to where there is no folder; it stays opaque if it hides something further below."""
    hides = target.is_symlink() or target.exists()
    remove_tree(target)
    source.rename(target)
    if hidden and hides:
        make_opaque(target)


def _copy_owner(target: Path, status: os.stat_result) -> None:
    if os.geteuid() == 0:
        os.chown(target, status.st_uid, status.st_gid)
    target.chmod(stat.S_IMODE(status.st_mode))


def _empty(folder: Path) -> None:
    for path in list(folder.iterdir()):
        remove_tree(path)


def prune(folder: Path, *, below: Sequence[Path]) -> None:
    """Remove empty folders that say no more than the folders of the same path ``below``.

    Overlayfs copies a folder up when something is written in it, and it stays when that is removed again.  Raises
    ``OSError``.
    """
    for path in list(folder.iterdir()):
        if path.is_symlink() or not path.is_dir():
            continue
        lower = [other / path.name for other in below]
        prune(path, below=[] if is_opaque(path) else lower)
        if not any(path.iterdir()) and not is_opaque(path) and any(other.is_dir() for other in lower):
            path.rmdir()


def subtract(folder: Path, base: Path) -> None:
    """Remove from a folder what an overlay over ``base`` shows anyway, and add white-outs for what it must not show.

    An overlay of the folder over ``base`` afterwards shows what the folder held before.  Raises ``OSError``.
    """
    for path in sorted(base.iterdir()):
        mine = folder / path.name
        if not os.path.lexists(mine):
            os.mknod(mine, stat.S_IFCHR, 0)
        elif _is_folder(mine) and _is_folder(path):
            subtract(mine, path)
            if not any(mine.iterdir()) and _same_attributes(mine, path):
                mine.rmdir()
        elif _same_attributes(mine, path) and _same_content(mine, path):
            mine.unlink()


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _same_attributes(one: Path, other: Path) -> bool:
    first, second = one.lstat(), other.lstat()
    return (first.st_mode, first.st_uid, first.st_gid) == (second.st_mode, second.st_uid, second.st_gid)


def _same_content(one: Path, other: Path) -> bool:
    if one.is_symlink():
        return os.readlink(one) == os.readlink(other)  # noqa: PTH115  Path would drop "./" and doubled slashes
    return one.is_file() and filecmp.cmp(one, other, shallow=False)
