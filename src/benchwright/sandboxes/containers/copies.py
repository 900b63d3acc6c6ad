"""Files of one container, handed in and out by its engine; the image's shell only clears and removes."""

import contextlib
import io
import posixpath
import subprocess
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

from benchwright.core.errors import SandboxFault
from benchwright.sandboxes.base import TREE_FILE_BYTES
from benchwright.sandboxes.containers.engine import Engine
from benchwright.sandboxes.containers.files import CLEAR, REMOVE, absolute, archive_of, first_file

_COPIED_TYPES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE)
_READ_BYTES = 1 << 20
_READ_TRIES, _READ_PAUSE = 10, 0.05  # somebody who rewrites a file without pause spoils a quarter of the tries
_pause = time.sleep


class NotHandedOutError(Exception):
    """The engine gave no archive; the text says why.  Whether that is a fault the caller has to find out."""


class BrokenOffError(SandboxFault):
    """The engine's archive ended too early.

    A process inside can bring that about: it happens when a file gets shorter while the engine reads it.
    """


class ContainerFiles:
    """The files of a container, running or stopped; may be used by threads, each call is one of the engine's."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._name = name

    def write(self, files: Mapping[str, tuple[bytes, int]]) -> None:
        """Write files (bytes and mode by absolute path) at once; raises `SandboxFault`."""
        archive = archive_of(files)
        if self._engine.call("cp", "-", f"{self._name}:/", stdin=archive).status != 0:
            self._script(CLEAR, list(files), "make room for")
            answer = self._engine.call("cp", "-", f"{self._name}:/", stdin=archive)
            if answer.status != 0:
                raise SandboxFault(f"files could not be written into a container: {answer.complaint}")

    def remove(self, paths: Sequence[str]) -> None:
        """Remove files and links; raises `SandboxFault`."""
        self._script(REMOVE, paths, "remove")

    def read(self, path: str, max_bytes: int) -> bytes | None:
        """The bytes of a regular file, None when it is something else.

        Is tried again when the archive breaks off.  Raises `NotHandedOutError` when there is none, and `SandboxFault`
        when it is larger or breaks off each time.
        """
        for _ in range(_READ_TRIES - 1):
            with contextlib.suppress(BrokenOffError):
                return self._read_once(path, max_bytes)
            _pause(_READ_PAUSE)
        return self._read_once(path, max_bytes)

    def tree(self, path: str, into: BinaryIO) -> None:
        """Write a folder as an archive; see `benchwright.sandboxes.base.LiveWorkspace.tree`.

        Engines leave out what has a path longer than the system takes (4,096 bytes), as every program would.

        Raises `NotHandedOutError` when there is no such folder, and `BrokenOffError` when the archive breaks off.
        """
        folder = posixpath.normpath(path).rstrip("/")
        with tarfile.open(fileobj=into, mode="w|", format=tarfile.PAX_FORMAT) as written:
            # Hard links may be of files that are left out: each comes out whole when asked for by its own name.  But
            # afterwards, for an engine hands out one archive of a container at a time.
            for name in self._pass_on(folder, written):
                with contextlib.suppress(NotHandedOutError), self._archive(f"{self._name}:{folder}/{name}") as single:
                    whole = single.next()
                    if whole is not None:
                        _add(name, single, whole, written)

    def _read_once(self, path: str, max_bytes: int) -> bytes | None:
        with self._archive("-L", f"{self._name}:{absolute(path)}") as archive:
            return first_file(archive, path, max_bytes)

    def _pass_on(self, folder: str, written: tarfile.TarFile) -> list[str]:
        """Write everything below a folder but the hard links, whose names are returned."""
        links, passed = [], set[str]()
        with self._archive(f"{self._name}:{folder}/.", whole=True) as archive:
            for member in archive:
                name = posixpath.normpath(member.name)
                if name in (".", "/") or name.split("/")[0] == ".git":
                    continue
                if not member.islnk():
                    _add(name, archive, member, written)
                    passed.add(name)
                elif (other := _below(member.linkname, folder)) in passed:
                    written.addfile(_link(name, other, member))
                else:
                    links.append(name)
        return links

    @contextlib.contextmanager
    def _archive(self, *source: str, whole: bool = False) -> Iterator[tarfile.TarFile]:
        """What the engine hands out, as a stream; raises `NotHandedOutError` when it is no archive.

        Raises `BrokenOffError` when it ends while it is read; with ``whole``, for an archive that is read to its end,
        also when the engine did not get there.
        """
        client = self._engine.start(["cp", *source, "-"])
        assert client.stdout is not None and client.stderr is not None
        with client:
            try:
                archive = tarfile.open(fileobj=client.stdout, mode="r|")  # noqa: SIM115
            except tarfile.ReadError as error:
                raise NotHandedOutError(client.stderr.read().decode(errors="replace").strip()) from error
            try:
                with archive:
                    yield archive
                if whole:
                    _require_whole(client)
            except tarfile.ReadError as error:
                raise BrokenOffError(
                    f"the container engine broke off in the middle of {source[-1]}: {error}"
                ) from error
            finally:
                client.kill()  # the rest of a large folder is of no interest

    def _script(self, script: str, paths: Sequence[str], what: str) -> None:
        answer = self._engine.call("exec", "-w", "/", self._name, "/bin/sh", "-c", script, "sh", *paths)
        if answer.status != 0:
            raise SandboxFault(f"a container does not {what} {paths[0]}: {answer.complaint}")


def _below(linkname: str, folder: str) -> str:
    """What a hard link's other name is relative to the folder; engines begin with the folder's own name, or not."""
    name = posixpath.normpath(linkname).lstrip("/")
    return name.removeprefix(posixpath.basename(folder) + "/")


def _link(name: str, other: str, member: tarfile.TarInfo) -> tarfile.TarInfo:
    link = tarfile.TarInfo(name)
    link.type, link.linkname, link.mode, link.mtime = tarfile.LNKTYPE, other, member.mode, member.mtime
    return link


def _require_whole(client: subprocess.Popen[bytes]) -> None:
    """An archive that is cut between two files looks like a shorter one."""
    assert client.stdout is not None and client.stderr is not None
    while client.stdout.read(_READ_BYTES):
        pass
    if client.wait() != 0:
        message = client.stderr.read().decode(errors="replace").strip()
        raise BrokenOffError(f"the container engine broke off: {message}")


def _add(name: str, archive: tarfile.TarFile, member: tarfile.TarInfo, written: tarfile.TarFile) -> None:
    """Pass a member on under another name, with what our promise is about and nothing else."""
    if member.type not in _COPIED_TYPES:
        return
    copy = tarfile.TarInfo(name)
    copy.type, copy.linkname, copy.mode, copy.mtime = member.type, member.linkname, member.mode, member.mtime
    copy.uid, copy.gid = member.uid, member.gid
    if member.isreg() and member.size > TREE_FILE_BYTES:
        written.addfile(*_hole(copy, member.size))
        return
    copy.size = member.size if member.isreg() else 0
    written.addfile(copy, archive.extractfile(member) if member.isreg() else None)


def _hole(copy: tarfile.TarInfo, size: int) -> tuple[tarfile.TarInfo, BinaryIO]:
    """A file without its content, in the form of GNU's pax format 1.0: a map that knows of no data."""
    table = f"1\n{size}\n0\n".encode().ljust(tarfile.BLOCKSIZE, b"\0")
    names = {"major": "1", "minor": "0", "name": copy.name, "realsize": str(size)}
    copy.pax_headers = {f"GNU.sparse.{name}": value for name, value in names.items()}
    copy.size = len(table)
    return copy, io.BytesIO(table)
