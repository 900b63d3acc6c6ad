"""Facts about reading JSON Lines."""

import hashlib
from pathlib import Path

import pytest

from benchwright.benchmarks import jsonl
from benchwright.benchmarks.jsonl import read_json_lines, type_name
from benchwright.core.errors import UsageError


def test_a_line_beyond_the_limit_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of the limit's length is read, a longer one is an error that names it."""
    monkeypatch.setattr(jsonl, "MAX_LINE_BYTES", 20)
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": "123456789"}\n\n{"a": "12345678901"}\n')
    lines = read_json_lines(path, hashlib.sha256())
    assert next(lines).value == {"a": "123456789"}
    with pytest.raises(UsageError, match="line 3: longer than 20 bytes"):
        next(lines)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    """A path that cannot be opened as a file is named with the system's reason."""
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        list(read_json_lines(tmp_path, hashlib.sha256()))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "a boolean"),
        (1.5, "a number"),
        ("", "a string"),
        ([], "a list"),
        ({}, "an object"),
        (b"", "bytes"),
    ],
)
def test_types_are_called_as_json_calls_them(value: object, name: str) -> None:
    """Messages about a file use the words of its format."""
    assert type_name(value) == name
