"""Files: rows in any of the usual forms (JSON Lines, one JSON document, Parquet; gzip where it is text)."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.benchmarks.documents import parse_document, unpacked
from benchwright.benchmarks.jsonl import MAX_LINE_BYTES, read_json_lines, type_name
from benchwright.benchmarks.reading import Hasher, hash_file
from benchwright.benchmarks.tables import is_parquet, read_parquet_rows
from benchwright.core.errors import UsageError

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: Largest JSON document, unpacked: the limit of one line of JSON Lines, for it is parsed whole like one.
MAX_DOCUMENT_BYTES = MAX_LINE_BYTES


class Entry(NamedTuple):
    """One value of a file and where it stands."""

    where: str
    """File and line, entry or row."""
    key: str | None
    """The key of a JSON mapping that the value was under, or None."""
    value: Any
    undecodable: int | None = None
    """Offset of the first byte of its line that is not UTF-8, or None."""


def read_entries(path: Path, hasher: Hasher) -> Iterator[Entry]:
    """The values of a JSON Lines file, of the one list or mapping of a JSON file, or of a Parquet file.

    The form is known by content; a name that ends in ``.jsonl`` says JSON Lines.  A JSON file that holds one
    object per line is read as such.  The hasher sees the stored bytes.  Raises `UsageError` that names the file
    and, where there is one, the line.
    """
    if is_parquet(path):
        for where, row in read_parquet_rows(path, hasher):
            yield Entry(where, None, row)
        return
    document = None if path.name.removesuffix(".gz").endswith(".jsonl") else _document(path)
    if document is None:
        for line in read_json_lines(path, hasher):
            yield Entry(f"{path}, line {line.number}", None, line.value, line.undecodable)
    else:
        hash_file(path, hasher)
        yield from _entries_of(document, path)


def _document(path: Path) -> Any:
    """The one JSON value of a file, or None for a file of several, one per line, or none."""
    data = unpacked(path, most=MAX_DOCUMENT_BYTES)
    if not data.strip() or _is_one_per_line(data.removeprefix(_BYTE_ORDER_MARK).lstrip()):
        return None
    return parse_document(data, path)


def _is_one_per_line(data: bytes) -> bool:
    first, _, rest = data.partition(b"\n")
    try:
        return bool(rest.strip()) and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _entries_of(document: Any, path: Path) -> Iterator[Entry]:
    if isinstance(document, list):
        for number, value in enumerate(document, 1):
            yield Entry(f"{path}, entry {number}", None, value)
    elif isinstance(document, dict) and "instance_id" in document:
        yield Entry(str(path), None, document)  # one row by itself
    elif isinstance(document, dict):
        for key, value in document.items():
            yield Entry(f"{path}, key {key!r:.200}", key, value)
    else:
        raise UsageError(f"{path} holds {type_name(document)}; expected a list of rows or a mapping of ids to rows.")


def as_row(entry: Entry, *, form: str) -> Mapping[str, Any]:
    """The entry's value as an object with text keys; raises `UsageError` saying what form was expected."""
    if entry.undecodable is not None:
        raise UsageError(f"{entry.where}: byte {entry.undecodable} is not UTF-8.")
    if not isinstance(entry.value, dict):
        raise UsageError(f"{entry.where}: expected {form}, got {type_name(entry.value)}.")
    return entry.value
