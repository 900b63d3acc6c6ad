"""Which instances a benchmark has, from any file that says so: rows, however incomplete, or a list of ids."""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchwright.benchmarks.jsonl import type_name
from benchwright.benchmarks.repositories import named_few
from benchwright.benchmarks.swebench.files import Entry, read_entries
from benchwright.benchmarks.swebench.subsets import read_subset
from benchwright.core.errors import UsageError
from benchwright.core.results import ProblemFacts

_MOST_CHARACTERS = 200
_FORM = "rows with an instance_id, or a list of ids"


# Ids are made of owner, repository and pull request: pallets__flask-4045.
_PARTS = re.compile(r"(?P<owner>[A-Za-z0-9._-]+?)__(?P<name>[A-Za-z0-9._-]+)-\d+")


def read_instances(path: Path) -> tuple[ProblemFacts, ...]:
    """The instances in a file, in its order, with what it says of them; the repository is also read from the id.

    A ``.txt`` file has one id per line.  Everything else is rows (JSON Lines, JSON or Parquet), of which only
    ``instance_id`` must be there, or a JSON list of ids.  Raises `UsageError` for other files and an id given twice.
    """
    if path.name.removesuffix(".gz").endswith(".txt"):
        return tuple(instance_of(problem_id) for problem_id in read_subset(path).ids)
    found = [_instance(entry) for entry in read_entries(path, hashlib.sha256())]
    if not found:
        raise UsageError(f"{path} holds no ids; expected {_FORM}.")
    twice = [problem_id for problem_id, times in Counter(one.id for one in found).items() if times > 1]
    if twice:
        raise UsageError(f"{path} has ids twice: {named_few(twice)}.")
    return tuple(found)


def instance_of(problem_id: str) -> ProblemFacts:
    """What an id says of its instance: the repository, where it has the usual form."""
    found = _PARTS.fullmatch(problem_id)
    return ProblemFacts(id=problem_id, repository=f"{found['owner']}/{found['name']}" if found else "")


def _instance(entry: Entry) -> ProblemFacts:
    row = entry.value if isinstance(entry.value, dict) else {}
    if isinstance(entry.value, dict):
        value = row.get("instance_id", entry.key)
    else:
        value = entry.key if entry.value is None else entry.value
    if not isinstance(value, str) or not value:
        raise UsageError(f"{entry.where}: the instance_id is {type_name(value)}; expected {_FORM}.")
    return replace(
        instance_of(value),
        repository=_text(row, "repo") or instance_of(value).repository,
        difficulty=_text(row, "difficulty"),
        created=_text(row, "created_at"),
    )


def _text(row: Mapping[str, Any], field: str) -> str:
    """A text of the row, or nothing: rows of this kind are asked for ids, the rest is welcome where it is there."""
    value = row.get(field)
    return value if isinstance(value, str) and len(value) <= _MOST_CHARACTERS else ""
