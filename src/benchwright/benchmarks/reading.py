"""Files that the user names: opened, and hashed as they are stored."""

import stat
from pathlib import Path
from typing import Any, Protocol

from benchwright.core.errors import UsageError

_CHUNK_BYTES = 1 << 20


class Hasher(Protocol):
    """Anything of :mod:`hashlib` that takes bytes."""

    def update(self, data: bytes, /) -> None: ...


def check_file(path: Path) -> None:
    """Raise `UsageError` for a path that is not there, cannot be reached, or is neither a file nor a folder.

    A device may never end, and a named pipe that nobody writes to is waited for without end.  A pipe that the shell has
    opened already, as standard input or as ``<(command)``, is read like a file.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise UsageError(f"There is no file {path}.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    # A pipe without a name is at no path: what the descriptor's link leads to is not there.
    opened_pipe = stat.S_ISFIFO(mode) and not path.resolve().exists()
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or opened_pipe):
        raise UsageError(f"{path} is a pipe, a device or a socket; expected a file.")


def open_file(path: Path) -> Any:
    """A file opened for bytes; raises `UsageError` for one that cannot be."""
    check_file(path)
    try:
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error


def hash_file(path: Path, hasher: Hasher) -> None:
    """Show a hasher the bytes of a file."""
    with open_file(path) as file:
        while chunk := file.read(_CHUNK_BYTES):
            hasher.update(chunk)
