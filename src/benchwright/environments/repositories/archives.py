"""Tar archives of layers: written the same way each time, and read without trusting them.

Owners are written as seen inside a sandbox, so that an archive made by root can be unpacked by a plain user and the
other way round.  An opaque folder is marked by a header of our own for the same reason.
"""

import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from benchwright.core.errors import UsageError
from benchwright.environments.repositories.sealing import FIXED_TIME, Entry, entries, is_opaque, make_opaque
from benchwright.sandboxes.users import ID_COUNT, UserMapping

OPAQUE_HEADER = "BENCHWRIGHT.opaque"

KINDS = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE)
"""What a layer consists of; character devices are taken as white-outs only."""


class ArchiveWriter:
    """Adds folders to an open archive; files with several names, in whichever folder, are stored once."""

    def __init__(self, archive: tarfile.TarFile, *, owner: UserMapping) -> None:
        self._archive = archive
        self._owner = owner
        self._stored: dict[tuple[int, int], str] = {}

    def add(self, folder: Path, prefix: str) -> None:
        """Add everything below a folder under ``prefix``, in a fixed order.  Raises ``OSError``."""
        self._archive.addfile(self._member(Entry(folder, "", folder.lstat()), prefix))
        for entry in entries(folder):
            self._add_entry(entry, f"{prefix}/{entry.name}")

    def _add_entry(self, entry: Entry, name: str) -> None:
        member = self._member(entry, name)
        inode = (entry.status.st_dev, entry.status.st_ino)
        if not member.isreg():
            self._archive.addfile(member)
        elif entry.status.st_nlink > 1 and inode in self._stored:
            member.type, member.linkname, member.size = tarfile.LNKTYPE, self._stored[inode], 0
            self._archive.addfile(member)
        else:
            self._stored[inode] = name
            with entry.path.open("rb") as file:
                self._archive.addfile(member, file)

    def _member(self, entry: Entry, name: str) -> tarfile.TarInfo:
        status = entry.status
        member = tarfile.TarInfo(name)
        member.mode = stat.S_IMODE(status.st_mode)
        member.uid, member.gid = max(status.st_uid - self._owner.uid, 0), max(status.st_gid - self._owner.gid, 0)
        member.mtime = int(status.st_mtime)
        if stat.S_ISDIR(status.st_mode):
            member.type = tarfile.DIRTYPE
            if is_opaque(entry.path):
                member.pax_headers = {OPAQUE_HEADER: "1"}
        elif stat.S_ISLNK(status.st_mode):
            member.type, member.linkname = tarfile.SYMTYPE, os.readlink(entry.path)  # noqa: PTH115  see sealing
        elif entry.whiteout:
            member.type = tarfile.CHRTYPE
        elif stat.S_ISREG(status.st_mode):
            member.type, member.size = tarfile.REGTYPE, status.st_size
        else:
            raise UsageError(f"{entry.path} is a device, socket or pipe, which no layer may hold.")
        return member


class ArchiveReader:
    """Unpacks members below one folder; whatever they are called, nothing else is written or read."""

    def __init__(self, folder: Path, *, owner: UserMapping, what: str, most_bytes: int | None = None) -> None:
        """Start without anything unpacked.

        Args:
            folder: It is there, and nobody else changes it.
            owner: Who owns what is unpacked.
            what: What the archive is called in messages.
            most_bytes: How much it may hold; as much as there is when None.
        """
        self._folder = folder
        self._owner = owner
        self._what = what
        self._left = most_bytes
        self._folders: list[tuple[Path, int]] = []

    def unpack(self, archive: tarfile.TarFile, members: Iterator[tarfile.TarInfo]) -> None:
        """Unpack members in their order.

        Raises `UsageError` when one leads out of the folder or is of a kind that no layer has, ``OSError``, and
        ``tarfile.TarError`` when the archive is damaged.
        """
        for member in members:
            self._unpack_one(archive, member)

    def finish(self) -> None:
        """Set the folders' permissions and times, which would have been in the way before."""
        for path, mode in reversed(self._folders):
            path.chmod(mode)
            os.utime(path, (FIXED_TIME, FIXED_TIME))

    def _unpack_one(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        if member.type not in KINDS or (member.ischr() and (member.devmajor, member.devminor) != (0, 0)):
            raise UsageError(
                f"{self._what} holds {member.name!r}, which is neither file, folder nor link; not unpacked."
            )
        self._count(member)
        path = self._place(member.name)
        if member.isdir():
            self._unpack_folder(path, member)
            return
        path.unlink(missing_ok=True)
        if member.islnk():
            os.link(self._place(member.linkname), path, follow_symlinks=False)
            return
        self._write(archive, member, path)
        self._own(path, member)
        if not member.issym():
            path.chmod(member.mode & 0o7777)
        os.utime(path, (member.mtime, member.mtime), follow_symlinks=False)

    def _count(self, member: tarfile.TarInfo) -> None:
        if self._left is not None:
            self._left -= member.size
            if self._left < 0:
                raise UsageError(f"{self._what} holds more than it says of itself.")

    def _write(self, archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
        if member.issym():
            path.symlink_to(member.linkname)
        elif member.ischr():
            os.mknod(path, stat.S_IFCHR, 0)  # plain users may make white-outs too, since Linux 5.8
        else:
            archive.makefile(member, path)

    def _unpack_folder(self, path: Path, member: tarfile.TarInfo) -> None:
        if not path.is_dir():
            path.mkdir()
        if OPAQUE_HEADER in member.pax_headers:
            make_opaque(path)
        self._own(path, member)
        self._folders.append((path, member.mode & 0o7777))

    def _place(self, name: str) -> Path:
        """Where a member goes: below the folder, and through real folders only, never through a link."""
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or "\0" in name:
            raise UsageError(f"{self._what} holds the path {name!r}, which leads out of it; not unpacked.")
        path = self._folder
        for part in parts[:-1]:
            path = path / part
            if path.is_symlink() or (path.exists() and not path.is_dir()):
                raise UsageError(f"{self._what} holds {name!r}, which goes through something that is no folder.")
            if not path.exists():
                path.mkdir()
        return path / parts[-1]

    def _own(self, path: Path, member: tarfile.TarInfo) -> None:
        if not (0 <= member.uid < ID_COUNT and 0 <= member.gid < ID_COUNT):
            raise UsageError(f"{self._what} holds {member.name!r}, which belongs to nobody inside a sandbox.")
        if self._owner.ranged:
            os.chown(path, member.uid + self._owner.uid, member.gid + self._owner.gid, follow_symlinks=False)
