"""Files of a container: the archives in which an engine takes and hands them out, and what its shell has to do."""

import io
import posixpath
import tarfile
import time
from collections.abc import Mapping

from benchwright.core.errors import SandboxFault, UsageError

_TOOLS = "PATH=/usr/sbin:/usr/bin:/sbin:/bin\n"
CLEAR = f"""{_TOOLS}
for path; do
    rest=${{path#/}} at=
    while [ "$rest" != "${{rest#*/}}" ]; do
        at=$at/${{rest%%/*}} rest=${{rest#*/}}
        [ -d "$at" ] || rm -f -- "$at" || exit
    done
    [ ! -d "$path" ] || [ -L "$path" ] || rm -rf -- "$path" || exit
done
"""
"""Makes room for files: what stands in the place of a parent folder goes, and a folder in the place of a file."""
REMOVE = f"""{_TOOLS}
for path; do
    if [ ! -d "$path" ] || [ -L "$path" ]; then rm -f -- "$path" || exit; fi
done
"""
"""Removes files and links, and leaves folders."""


def absolute(path: str) -> str:
    """The path, if it can be that of a file inside; raises `UsageError` otherwise."""
    if not path.startswith("/") or path.endswith("/") or "\0" in path or ".." in path.split("/"):
        raise UsageError(f"Expected the absolute path of a file in the sandbox, got {path!r}.")
    return path


def archive_of(files: Mapping[str, tuple[bytes, int]]) -> bytes:
    """A tar archive of files by absolute path, to be unpacked at the root."""
    now = int(time.time())
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, (data, mode) in files.items():
            member = tarfile.TarInfo(posixpath.normpath(path).lstrip("/"))
            member.size, member.mode, member.mtime = len(data), mode, now
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def first_file(archive: tarfile.TarFile, path: str, max_bytes: int) -> bytes | None:
    """The bytes of the one file in an archive; None when it holds something else.

    Raises `SandboxFault` when the file is too large.
    """
    member = archive.next()
    if member is None or not member.isreg():
        return None
    if member.size > max_bytes:
        raise SandboxFault(f"{path} has {member.size} bytes, more than the {max_bytes} that were allowed")
    content = archive.extractfile(member)
    return None if content is None else content.read()
