"""Files that the user names: opened, and hashed as they are stored."""

from pathlib import Path
from typing import Any

from benchwright.benchmarks.jsonl import Hasher
from benchwright.core.errors import UsageError

_CHUNK_BYTES = 1 << 20


def open_file(path: Path) -> Any:
    """A file opened for bytes; raises `UsageError` for one that cannot be."""
    if not path.exists():
        raise UsageError(f"There is no file {path}.")
    try:
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error


def hash_file(path: Path, hasher: Hasher) -> None:
    """Show a hasher the bytes of a file."""
    with open_file(path) as file:
        while chunk := file.read(_CHUNK_BYTES):
            hasher.update(chunk)
