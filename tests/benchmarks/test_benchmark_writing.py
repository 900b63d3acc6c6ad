"""Facts about the files that benchmarks write."""

import os
from pathlib import Path

import pytest

from benchwright.benchmarks.writing import write_pieces, write_text
from benchwright.core.errors import MachineError


def test_a_file_is_written_with_its_folders(tmp_path: Path) -> None:
    """Folders are made, everybody may read the file, and nothing else is left beside it."""
    path = tmp_path / "new" / "folder" / "file.txt"
    write_text(path, "é\n")
    assert path.read_bytes() == "é\n".encode()
    assert path.stat().st_mode & 0o777 == 0o644
    write_pieces(path, ["a", "", "b\n"])
    assert path.read_bytes() == b"ab\n"
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file_and_no_scraps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full the file that was there stays whole."""
    path = tmp_path / "file.txt"
    write_text(path, "old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(MachineError, match=r"file\.txt cannot be written: No space left"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_is_no_folder_is_named(tmp_path: Path) -> None:
    """A path below a file cannot become a folder; the message says which file was to be written."""
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match=r"a\.toml cannot be written"):
        write_text(tmp_path / "file" / "a.toml", "")
