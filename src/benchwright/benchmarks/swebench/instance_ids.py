"""Ids of instances alone, from any file that has them: rows, however incomplete, or a list."""

import hashlib
from collections import Counter
from pathlib import Path

from benchwright.benchmarks.jsonl import type_name
from benchwright.benchmarks.repositories import named_few
from benchwright.benchmarks.swebench.files import Entry, read_entries
from benchwright.benchmarks.swebench.subsets import read_subset
from benchwright.core.errors import UsageError

_FORM = "rows with an instance_id, or a list of ids"


def read_instance_ids(path: Path) -> tuple[str, ...]:
    """The ids in a file, in its order.

    A ``.txt`` file has one id per line.  Everything else is rows (JSON Lines, JSON or Parquet) of which nothing but
    ``instance_id`` is read, or a JSON list of ids.  Raises `UsageError` for other files and for an id given twice.
    """
    if path.name.removesuffix(".gz").endswith(".txt"):
        return read_subset(path).ids
    ids = [_id(entry) for entry in read_entries(path, hashlib.sha256())]
    if not ids:
        raise UsageError(f"{path} holds no ids; expected {_FORM}.")
    twice = [problem_id for problem_id, times in Counter(ids).items() if times > 1]
    if twice:
        raise UsageError(f"{path} has ids twice: {named_few(twice)}.")
    return tuple(ids)


def _id(entry: Entry) -> str:
    value = entry.value
    if isinstance(value, dict):
        value = value.get("instance_id", entry.key)
    found = entry.key if value is None else value
    if not isinstance(found, str) or not found:
        raise UsageError(f"{entry.where}: the instance_id is {type_name(found)}; expected {_FORM}.")
    return found
