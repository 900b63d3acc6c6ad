"""What is asked of values in other programs' result files before they are kept: names, ids, shares, dates."""

import math
import unicodedata
from datetime import date
from typing import Any

from benchwright.benchmarks.jsonl import type_name
from benchwright.core.errors import UsageError

#: Longest name of a model or submission: the longest of the public ones have about 70 characters.
MAX_NAME_CHARACTERS = 500


def name_of(value: object, where: str, what: str) -> str:
    """A name that can be shown and stored: text without control characters and of bearable length.

    Anything else that is printable, markup too, is a name; pages escape it.  Raises `UsageError` naming ``where``.
    """
    if not isinstance(value, str):
        raise UsageError(f"{where}: {what} is {type_name(value)}; expected a name.")
    if not value.strip():
        raise UsageError(f"{where}: {what} is empty; expected a name.")
    if len(value) > MAX_NAME_CHARACTERS:
        raise UsageError(
            f"{where}: {what} has {len(value):,} characters ({value[:40]!r}…); at most {MAX_NAME_CHARACTERS} are taken."
        )
    # Cc: control characters, NUL among them; Cs: lone surrogates, which UTF-8 cannot carry.
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in value):
        raise UsageError(f"{where}: {what} is {value!r:.80}; a name has no control characters and no lone surrogates.")
    return value


def number_of(value: object, where: str, what: str) -> float | None:
    """A finite number from 0, or None for null; raises `UsageError` for others."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{where}: {what} is {type_name(value)}; expected a number or null.")
    # Comparing first: integers may be beyond what a float holds.
    if not 0 <= value < 1e18 or not math.isfinite(value):
        raise UsageError(f"{where}: {what} is {value!r:.40}; expected a number from 0.")
    return float(value)


def text_of(value: object, where: str, what: str, *, most: int = 2000) -> str:
    """A text of bearable length, without control characters; null is the empty one."""
    if value is None or value == "":
        return ""
    if not isinstance(value, str):
        raise UsageError(f"{where}: {what} is {type_name(value)}; expected a text or null.")
    if len(value) > most:
        raise UsageError(f"{where}: {what} has {len(value):,} characters; at most {most:,} are taken.")
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in value):
        raise UsageError(f"{where}: {what} is {value!r:.80}, which has control characters or lone surrogates.")
    return value


def date_of(value: object, where: str, what: str) -> str:
    """A day, ISO 8601; null and the empty text are the empty one."""
    if isinstance(value, date):  # TOML knows days
        return value.isoformat()[:10]
    text = text_of(value, where, what)
    try:
        return date.fromisoformat(text).isoformat() if text else ""
    except ValueError:
        raise UsageError(f"{where}: {what} is {text!r:.40}; expected a day such as 2024-05-13.") from None


def truth_of(value: object, where: str, what: str) -> bool | None:
    """True, false, or None for null."""
    if value is None or isinstance(value, bool):
        return value
    raise UsageError(f"{where}: {what} is {type_name(value)}; expected true, false or null.")


def table_of(value: Any, where: str, what: str) -> dict[str, Any]:
    """An object, whose keys JSON makes texts; raises `UsageError` for others."""
    if not isinstance(value, dict):
        raise UsageError(f"{where}: {what} is {type_name(value)}; expected an object.")
    return value
