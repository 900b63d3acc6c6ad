"""Writing files so that a process may die at any point, and telling plainly when the disk does not take them."""

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from benchwright.core.errors import MachineError
from benchwright.environments.commands import no_space_left


@contextlib.contextmanager
def told_plainly(what: str) -> Iterator[None]:
    """Turn an ``OSError`` into a `MachineError` that names the purpose (an infinitive), a full disk with advice."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise MachineError(no_space_left(what)) from error
        raise MachineError(f"Could not {what}: {error}.") from error


def write_at_once(path: Path, text: str) -> None:
    """Write a text file that is there either as before or whole; only for one writer at a time."""
    partial = path.with_name(path.name + ".partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.chmod(0o644)
    partial.replace(path)


def link_or_copy(original: Path, place: Path) -> None:
    """Make a second name for a file that never changes; a copy where the file system cannot (or may not) link."""
    try:
        os.link(original, place)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EACCES, errno.ENOTSUP):
            raise
        shutil.copy2(original, place)
