"""Files that survive a crash: written, flushed to the disk, moved into place; and locks that end with a process."""

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

STAGING = ".staging"
_IN_USE = ".in-use"


def flush(path: Path) -> None:
    """Have a file or folder on the disk, not only in memory."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_durably(path: Path, content: bytes) -> None:
    """Write a new file whose content is on the disk when this returns; its name needs a `flush` of the folder."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def replace_durably(path: Path, content: bytes) -> None:
    """Write a file all or nothing, over one that may be there."""
    with replacing(path) as file:
        file.write(content)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to that comes into place, on the disk, when the block ends; an error leaves what was there."""
    # A name nobody can foresee, made anew: a link planted in its place must not lead elsewhere.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        flush(path.parent)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the one lock of a file, waiting for it; the kernel lets go of it when the process ends, however it does."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class Stage:
    """A hidden folder in which one entry is made; while its maker lives, nobody clears it away."""

    def __init__(self, root: Path) -> None:
        """Make a new one below the store's folder; the store's lock must be held, so that no clearing comes between."""
        self.path = root / STAGING / secrets.token_hex(8)
        self.entry = self.path / "entry"
        self.blobs = self.path / "blobs"
        for folder in (self.entry, self.blobs):
            folder.mkdir(parents=True)
        self._descriptor = os.open(self.path / _IN_USE, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def close(self) -> None:
        """Remove what is left of it."""
        shutil.rmtree(self.path, ignore_errors=True)  # what is left behind is hidden, and cleared away by gc
        os.close(self._descriptor)


def abandoned_stages(root: Path) -> list[Path]:
    """Folders of makers that are gone; the store's lock must be held."""
    place = root / STAGING
    return [path for path in sorted(place.iterdir()) if not _in_use(path)] if place.is_dir() else []


def _in_use(stage: Path) -> bool:
    try:
        descriptor = os.open(stage / _IN_USE, os.O_RDWR | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)
