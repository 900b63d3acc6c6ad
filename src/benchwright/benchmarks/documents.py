"""Files that hold one JSON document, plain or gzip: read whole up to a limit, every flaw named."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.benchmarks.reading import hash_file, open_file
from benchwright.core.errors import UsageError

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Document(NamedTuple):
    """What a file holds."""

    value: Any
    sha256: str
    """Of the file as it is stored, packed or not."""


def read_document(path: Path, *, most: int) -> Document:
    """The one JSON value of a file; raises `UsageError` for any other file, and beyond ``most`` unpacked bytes."""
    value = parse_document(unpacked(path, most=most), path)
    hasher = hashlib.sha256()
    hash_file(path, hasher)
    return Document(value, hasher.hexdigest())


def unpacked(path: Path, *, most: int) -> bytes:
    """A file's bytes, unpacked where it is gzip; raises `UsageError` beyond ``most`` bytes."""
    try:
        with open_file(path) as raw:
            packed = raw.read(2) == _GZIP_MAGIC
            raw.seek(0)
            data: bytes = (gzip.GzipFile(fileobj=raw) if packed else raw).read(most + 1)
    except EOFError as error:
        raise UsageError(f"{path} ends early: the gzip stream is cut off; fetch the file again.") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise UsageError(f"{path} is damaged: gzip says {error}; fetch the file again.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) > most:
        raise UsageError(f"{path} is longer than {most:,} bytes.")
    return data


class _RepeatedKey(ValueError):
    """A JSON object has a key twice."""


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RepeatedKey(key)
        found[key] = value
    return found


def parse_document(data: bytes, path: Path) -> Any:
    """The one JSON value of a file's bytes, in which no object has a key twice; raises `UsageError` naming the line."""
    try:
        return json.loads(decoded(data.removeprefix(_BYTE_ORDER_MARK), path), object_pairs_hook=_unique)
    except _RepeatedKey as error:
        raise UsageError(f"{path}: the key {error.args[0]!r:.200} stands twice in one object; keep one.") from error
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}, line {error.lineno}: this is not JSON: {error.msg}.") from error
    # ValueError: also integers beyond Python's conversion limit; RecursionError: nesting.
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not usable JSON: {error}.") from error


def decoded(data: bytes, path: Path) -> str:
    """The text of a file's bytes; raises `UsageError` naming the line for what is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}, line {line}: byte {error.start} of the file is not UTF-8.") from error
