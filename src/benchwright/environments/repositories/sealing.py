"""Making a folder of files final: one fixed time, a digest of everything in it, equal files shared with other layers.

Two layers hold the same bytes if and only if their content digests are equal.  What a digest covers of each entry:
its path, kind, permissions, owner as seen inside a sandbox, bytes or link target, and whether it hides what lies
below it (overlayfs's white-outs and opaque folders).  Times are not covered, since all of them are set to one.

Equal files are shared by hard links through a pool, between layers only and never within one: two paths of one
layer that were the same file would make ``cp`` refuse to copy one to the other, and nobody checked them out so.
For that reason the second of two equal files in a layer is shared with the second ones of other layers.
"""

import collections
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.errors import MachineError
from benchwright.environments.repositories.checkout import FILE_TIME
from benchwright.sandboxes.users import UserMapping

FIXED_TIME = FILE_TIME
"""The time of everything in a layer, working trees or not."""

OPAQUE = ("trusted.overlay.opaque", "user.overlay.opaque")
"""How overlayfs marks a folder that hides the one below: made by root, made by a plain user."""

UNPORTABLE = ("redirect", "metacopy")
"""Features of overlayfs that make a layer depend on the very folders it was made over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a sealed folder holds."""

    digest: str
    files: int
    """Entries of every kind, folders too."""
    bytes: int
    """Allocated on disk, each file once however many links it has."""
    new_bytes: int
    """The part of it that neither another layer nor a stored history had."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One path below a folder."""

    path: Path
    name: str
    """Relative to the folder, with forward slashes."""
    status: os.stat_result

    @property
    def whiteout(self) -> bool:
        """Whether it only says that what lies below is gone."""
        return stat.S_ISCHR(self.status.st_mode) and self.status.st_rdev == 0


def entries(folder: Path) -> Iterator[Entry]:
    """Everything below a folder in one fixed order, each folder before what is in it; links are not followed."""
    yield from _below(folder, "")


def _below(folder: Path, prefix: str) -> Iterator[Entry]:
    with os.scandir(folder) as found:
        names = sorted(entry.name for entry in found)
    for name in names:
        path = folder / name
        status = path.lstat()
        yield Entry(path, prefix + name, status)
        if stat.S_ISDIR(status.st_mode):
            yield from _below(path, f"{prefix}{name}/")


def is_opaque(path: Path) -> bool:
    """Whether a folder of a layer hides everything of that name below it."""
    return any(name in OPAQUE for name in os.listxattr(path, follow_symlinks=False))


def make_opaque(path: Path) -> None:
    """Mark a folder so, in the way that fits who is asking.  Raises ``OSError``."""
    os.setxattr(path, OPAQUE[0] if os.geteuid() == 0 else OPAQUE[1], b"y")


def shift_owners(folder: Path, owner: UserMapping) -> None:
    """Give files with ordinary ids (0 is root) the host ids that stand for them; others are left as they are.

    Nothing happens where there is no range of ids: everything belongs to the one user then.
    """
    if not owner.ranged:
        return
    _shift(folder, folder.lstat(), owner)
    for entry in entries(folder):
        _shift(entry.path, entry.status, owner)


def _shift(path: Path, status: os.stat_result, owner: UserMapping) -> None:
    uid = status.st_uid if status.st_uid >= owner.uid else status.st_uid + owner.uid
    gid = status.st_gid if status.st_gid >= owner.gid else status.st_gid + owner.gid
    if (uid, gid) == (status.st_uid, status.st_gid):
        return
    os.chown(path, uid, gid, follow_symlinks=False)
    if stat.S_ISREG(status.st_mode) and status.st_mode & (stat.S_ISUID | stat.S_ISGID):
        path.chmod(stat.S_IMODE(status.st_mode))  # the kernel takes both bits away when the owner changes


def set_times(folder: Path) -> None:
    """Give everything below the folder, and itself, the fixed time.

    Git's index gets the second after it: Git distrusts entries that are not older than the index, and would read
    every file again at each ``git status``.
    """
    for entry in reversed(list(entries(folder))):
        _set_time(entry)
    os.utime(folder, (FIXED_TIME, FIXED_TIME))


def seal(folder: Path, *, owner: UserMapping, pool: Path | None = None) -> Content:
    """Fix times, drop overlayfs's private marks, share equal files through the pool, and compute the digest.

    Raises `MachineError` when the folder was made with overlayfs features that do not move, and ``OSError``.
    """
    sealing = _Sealing(owner, pool)
    found = list(entries(folder))
    for entry in found:
        sealing.add(entry)
    for entry in reversed(found):
        if stat.S_ISDIR(entry.status.st_mode):
            _set_time(entry)
    os.utime(folder, (FIXED_TIME, FIXED_TIME))
    return sealing.content(len(found))


def content_digest(folder: Path, *, owner: UserMapping) -> str:
    """The digest that `seal` computes, of a folder that is left as it is."""
    sealing = _Sealing(owner, None)
    for entry in entries(folder):
        sealing.describe(entry)
    return sealing.content(0).digest


class _Sealing:
    """State of one pass over a folder."""

    def __init__(self, owner: UserMapping, pool: Path | None) -> None:
        self._owner = owner
        self._pool = pool
        self._digest = hashlib.sha256()
        self._copies: collections.Counter[str] = collections.Counter()
        self._first: dict[tuple[int, int], Path] = {}
        self._bytes = 0
        self._new_bytes = 0

    def add(self, entry: Entry) -> None:
        """Take one entry in: digest, marks, time, sharing."""
        file_digest = self.describe(entry)
        _drop_marks(entry)
        if not stat.S_ISDIR(entry.status.st_mode):
            _set_time(entry)
        self._count(entry, file_digest)

    def describe(self, entry: Entry) -> str:
        """Take one entry into the digest; returns the SHA-256 of a regular file's bytes, else an empty text."""
        status, mode = entry.status, entry.status.st_mode
        file_digest, about = "", ""
        if stat.S_ISREG(mode):
            with entry.path.open("rb") as file:
                file_digest = about = hashlib.file_digest(file, "sha256").hexdigest()
        elif stat.S_ISLNK(mode):
            about = os.readlink(entry.path)  # noqa: PTH115  Path would drop "./" and doubled slashes
        elif stat.S_ISDIR(mode):
            about = "opaque" if is_opaque(entry.path) else ""
        elif stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            about = str(status.st_rdev)
        kind, permissions = stat.S_IFMT(mode), 0 if stat.S_ISLNK(mode) or entry.whiteout else stat.S_IMODE(mode)
        uid, gid = status.st_uid - self._owner.uid, status.st_gid - self._owner.gid
        owners = "" if entry.whiteout else f"{uid}:{gid}"
        line = "\0".join((entry.name, f"{kind:o}", f"{permissions:o}", owners, about))
        self._digest.update(os.fsencode(line) + b"\n")
        return file_digest

    def _count(self, entry: Entry, file_digest: str) -> None:
        status = entry.status
        allocated = status.st_blocks * 512
        linked = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
        if linked:
            first = self._first.setdefault((status.st_dev, status.st_ino), entry.path)
            if first != entry.path:
                self._follow(entry, first)
                return
        self._bytes += allocated
        shared = bool(file_digest and status.st_size) and self._share(entry, file_digest)
        self._new_bytes += 0 if shared or linked else allocated

    def _follow(self, entry: Entry, first: Path) -> None:
        """Keep two names of one file that way when the first of them has been replaced by a shared one."""
        if self._pool is not None and first.stat().st_ino != entry.status.st_ino:
            entry.path.unlink()
            os.link(first, entry.path)

    def _share(self, entry: Entry, file_digest: str) -> bool:
        """Replace a file by a link to an equal one of another layer; whether there was one."""
        if self._pool is None:
            return False
        status = entry.status
        key = f"{file_digest}-{stat.S_IMODE(status.st_mode):o}-{status.st_uid}-{status.st_gid}"
        self._copies[key] += 1
        return share(entry.path, self._pool / key[:2] / f"{key}-{self._copies[key]}")

    def content(self, files: int) -> Content:
        """What was found."""
        return Content(digest=self._digest.hexdigest(), files=files, bytes=self._bytes, new_bytes=self._new_bytes)


def share(path: Path, pooled: Path) -> bool:
    """Make ``path`` a link to ``pooled`` if that exists (True), or else the other way round (False)."""
    try:
        if pooled.samefile(path):
            return True  # renaming one of its names over another would leave both
    except FileNotFoundError:
        pooled.parent.mkdir(parents=True, exist_ok=True)
        _link_unless_there(path, pooled)
        return False
    spare = pooled.with_name(f".{pooled.name}.{os.getpid()}")
    spare.unlink(missing_ok=True)
    try:
        os.link(pooled, spare)
    except OSError as error:
        if error.errno != errno.EMLINK:  # ext4 allows 65,000 links to one file: begin with a new one
            raise
        pooled.unlink()
        _link_unless_there(path, pooled)
        return False
    spare.replace(path)
    return True


def _link_unless_there(path: Path, pooled: Path) -> None:
    try:
        os.link(path, pooled)
    except FileExistsError:
        return  # another build was faster: this copy stays on its own


def _drop_marks(entry: Entry) -> None:
    if stat.S_ISLNK(entry.status.st_mode) or entry.whiteout:
        return
    for name in os.listxattr(entry.path, follow_symlinks=False):
        area, _, mark = name.partition(".overlay.")
        if area not in ("trusted", "user") or name in OPAQUE:
            continue
        if mark in UNPORTABLE:
            raise MachineError(
                f"The layer's folder {entry.path} was made with overlayfs's {mark} feature, which does not move; "
                "mount with redirect_dir=off and metacopy=off."
            )
        os.removexattr(entry.path, name, follow_symlinks=False)


def _set_time(entry: Entry) -> None:
    is_index = entry.name == ".git/index" or entry.name.endswith("/.git/index")
    moment = FIXED_TIME + is_index
    os.utime(entry.path, (moment, moment), follow_symlinks=False)
