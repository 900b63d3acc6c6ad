"""Content addresses: one canonical spelling of plain data, and its SHA-256."""

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """Spell plain data (dicts, lists, strings, numbers, booleans, None) the same way every time.

    Keys are sorted, no spaces, non-ASCII kept.  Raises ``TypeError`` for anything else and ``ValueError`` for
    NaN or infinity, which JSON cannot carry.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_of(value: Any) -> str:
    """SHA-256 (64 hexadecimal digits) of the canonical JSON of plain data."""
    return digest_of_text(canonical_json(value))


def digest_of_text(text: str) -> str:
    """SHA-256 (64 hexadecimal digits) of a text; lone surrogates are kept apart, not refused."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_of_bytes(data: bytes) -> str:
    """SHA-256 (64 hexadecimal digits) of bytes."""
    return hashlib.sha256(data).hexdigest()
