"""JSON out of bundles says one thing to every reader, and not too much."""

from pathlib import Path

import pytest

from benchwright.store import bundle_json
from benchwright.store.bundle_json import flaw_of_json, strict_json


@pytest.mark.parametrize("text", ["{}", "[1, 2.5, null]", '{"a": {"a": 1}, "b": "\\ud800"}', "1e300"])
def test_plain_documents_are_read(text: str) -> None:
    """The same key in different objects is nothing special, and numbers are numbers."""
    strict_json(text.encode())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' is there twice"),
        ('[{"b": [{"c": 1, "d": 1, "c": 1}]}]', "the key 'c' is there twice"),
        ("NaN", "NaN is no number"),
        ("[-Infinity]", "-Infinity is no number"),
        ("1e999", "1e999 is no number that can be had"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ("", "Expecting value"),
        ("\ufeff{}", "BOM"),
    ],
)
def test_what_readers_differ_on_is_refused(text: str, message: str) -> None:
    """In one clause."""
    with pytest.raises(ValueError, match=message):
        strict_json(text.encode())


def test_other_encodings_are_refused() -> None:
    """What is UTF-16 to one program is nothing to another."""
    with pytest.raises(ValueError, match="decode"):
        strict_json("{}".encode("utf-16"))


def test_very_large_documents_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is parsed, bytes and brackets are counted."""
    with pytest.raises(ValueError, match="it has 600,001 brackets"):
        strict_json(b"[" + b"{}," * 600_000 + b"1]")
    monkeypatch.setattr(bundle_json, "LARGEST_DOCUMENT", 10)
    for name in ("a.json", "a.jsonl"):
        (tmp_path / name).write_text('{"a": "0123456789"}')
        assert "bytes" in flaw_of_json(tmp_path / name)


def test_lines_are_documents(tmp_path: Path) -> None:
    """The line that is wrong is named."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n')
    assert flaw_of_json(path) == ""
    path.write_text('{"a": 1}\n{"a": 2, "a": 3}\n')
    assert flaw_of_json(path) == "line 2: the key 'a' is there twice"
