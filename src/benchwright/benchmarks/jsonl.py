"""JSON Lines files, plain or gzip: streamed, hashed on the way, every flaw named by file and line."""

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.benchmarks.reading import Hasher, check_file
from benchwright.core.errors import UsageError

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BUFFER_BYTES = 1 << 20

#: Longest line that is read at all: parsing takes several times its size in memory.  The largest line worth
#: reading (an answer that is over its limit, yet recorded as such) is far below.
MAX_LINE_BYTES = 512 * 1024 * 1024


class JsonLine(NamedTuple):
    """One object of a file."""

    number: int
    """Line in the file, counted from 1."""
    value: dict[str, Any]
    undecodable: int | None
    """Offset in the line of the first byte that is not UTF-8 (read as a replacement character), or None."""


def read_json_lines(path: Path, hasher: Hasher) -> Iterator[JsonLine]:
    """Each line of a file as a JSON object; blank lines are passed over.

    Compression is recognised by content, for some downloads unpack without renaming.  The hasher sees the
    bytes of the file as stored and is complete when the iterator is.  Raises `UsageError` that names file and
    line.
    """
    check_file(path)
    try:
        with path.open("rb", buffering=0) as raw:
            stored = io.BufferedReader(_HashedReader(raw, hasher), _BUFFER_BYTES)
            packed = stored.peek(2)[:2] == _GZIP_MAGIC
            lines: io.BufferedIOBase = gzip.GzipFile(fileobj=stored) if packed else stored
            yield from _objects(path, lines)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error


class _HashedReader(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, hasher: Hasher) -> None:
        self._raw = raw
        self._hasher = hasher

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._raw.read(len(buffer)) or b""
        buffer[: len(data)] = data
        self._hasher.update(data)
        return len(data)


def _objects(path: Path, lines: io.BufferedIOBase) -> Iterator[JsonLine]:
    number = 0
    while True:
        try:
            line = lines.readline(MAX_LINE_BYTES + 1)
        except EOFError as error:
            raise UsageError(
                f"{path} ends early: the gzip stream is cut off; {number} complete lines were read."
            ) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise UsageError(
                f"{path} is damaged: gzip says {error} after {number} complete lines; fetch the file again."
            ) from error
        if not line:
            return
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise UsageError(f"{path}, line {number}: longer than {MAX_LINE_BYTES:,} bytes.")
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if line.strip():
            yield _object(line, f"{path}, line {number}", number)


def _object(line: bytes, where: str, number: int) -> JsonLine:
    undecodable = None
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        undecodable = error.start
        text = line.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    # ValueError: also integers beyond Python's conversion limit; RecursionError: nesting.
    except (ValueError, RecursionError) as error:
        if undecodable is not None:
            raise UsageError(f"{where}: byte {undecodable} is not UTF-8, and the line is not JSON.") from error
        cut = "" if line.endswith(b"\n") else " (the file ends in this line: is it complete?)"
        raise UsageError(f"{where}: expected one JSON object per line, but this is not JSON: {error}{cut}.") from error
    if not isinstance(value, dict):
        raise UsageError(f"{where}: expected a JSON object, got {type_name(value)}.")
    return JsonLine(number, value, undecodable)


def type_name(value: object) -> str:
    """What JSON calls the type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return type(value).__name__
