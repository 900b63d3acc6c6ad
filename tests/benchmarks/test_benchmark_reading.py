"""Facts about opening and hashing files."""

import hashlib
import os
from pathlib import Path

import pytest

from benchwright.benchmarks.reading import check_file, hash_file, open_file
from benchwright.core.errors import UsageError


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    """An absent file and a folder are each said to be what they are."""
    with pytest.raises(UsageError, match=r"There is no file .*absent"):
        open_file(tmp_path / "absent")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        open_file(tmp_path)


def test_a_file_is_hashed_whole(tmp_path: Path) -> None:
    """Files larger than one piece of reading are hashed to their end."""
    data = bytes(range(256)) * 10_000
    (tmp_path / "file").write_bytes(data)
    hasher = hashlib.sha256()
    hash_file(tmp_path / "file", hasher)
    assert hasher.digest() == hashlib.sha256(data).digest()


def test_what_may_never_end_is_refused(tmp_path: Path) -> None:
    """A named pipe and a device are no files."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(UsageError, match="is a pipe, a device or a socket"):
            check_file(path)


def test_a_pipe_that_is_open_already_is_read() -> None:
    """As the shell hands one over: standard input behind ``|``, or ``<(command)``."""
    reading, writing = os.pipe()
    try:
        os.write(writing, b"lines")
        os.close(writing)
        with open_file(Path(f"/dev/fd/{reading}")) as file:
            assert file.read() == b"lines"
    finally:
        os.close(reading)
