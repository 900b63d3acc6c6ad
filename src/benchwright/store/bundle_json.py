"""JSON out of a bundle, read so that nobody can read it otherwise: no key twice, no number that is none, not too much.

Which of two equal keys counts, and what ``NaN`` is, every reader of JSON decides for itself; a bundle says one thing.
"""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

LARGEST_DOCUMENT = 64 * 1024**2
"""Bytes of one document: a file, or a line of a ``.jsonl`` file."""
MOST_PARTS = 500_000
"""Objects and lists of one document.  The plans of 1,140 problems have 20,000; what has millions of them was made to
fill memory, for each takes a hundred times the bytes that it has in the file."""


def strict_json(data: bytes) -> Any:
    """A JSON document; raises ``ValueError`` (a clause) for what is none, or not a plain one, or a very large one."""
    if len(data) > LARGEST_DOCUMENT:
        raise ValueError(f"it has {len(data):,} bytes, at most {LARGEST_DOCUMENT:,} are read")
    parts = data.count(b"{") + data.count(b"[")
    if parts > MOST_PARTS:
        raise ValueError(f"it has {parts:,} brackets, at most {MOST_PARTS:,} are read")
    try:
        text = data.decode("utf-8", "surrogatepass")  # json itself would guess other encodings, and read them
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number, parse_float=_number)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def flaw_of_json(path: Path) -> str:
    """What is wrong with a file of JSON, or of lines of JSON, as a clause; empty when nothing is."""
    try:
        if path.suffix != ".jsonl":
            if path.stat().st_size > LARGEST_DOCUMENT:
                return f"it has more than {LARGEST_DOCUMENT:,} bytes"
            strict_json(path.read_bytes())
            return ""
    except ValueError as error:
        return str(error)[:120]
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LARGEST_DOCUMENT + 1):
            number += 1
            try:
                strict_json(line)
            except ValueError as error:
                return f"line {number}: {str(error)[:120]}"
    return ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {name!r:.60} is there twice")
    return found


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text:.40} is no number that can be had")
    return value
