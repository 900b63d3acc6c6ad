"""Facts about opening and hashing files."""

import hashlib
from pathlib import Path

import pytest

from benchwright.benchmarks.reading import hash_file, open_file
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
