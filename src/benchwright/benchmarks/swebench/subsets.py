"""Subsets: by the annotators' estimate of difficulty, or a list of ids that the user gives a name."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.benchmarks.documents import decoded, parse_document, unpacked
from benchwright.benchmarks.jsonl import type_name
from benchwright.benchmarks.repositories import RepositorySet, named_few
from benchwright.benchmarks.swebench.rows import difficulty_of
from benchwright.core.digest import digest_of
from benchwright.core.errors import UnknownNameError, UsageError

ALL = "all"

DIFFICULTIES: Mapping[str, str] = {
    "under-15-minutes": "<15 min fix",
    "15-minutes-to-1-hour": "15 min - 1 hour",
    "1-to-4-hours": "1-4 hours",
    "over-4-hours": ">4 hours",
}
"""Names of the subsets by the estimate in the rows' ``difficulty`` (SWE-bench Verified's annotation)."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MAX_LIST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSubset:
    """Some ids under a name, such as the 477 problems that a vendor reported on."""

    name: str
    ids: tuple[str, ...]
    """Ids that belong to it; empty when ``without`` says which do not."""
    without: tuple[str, ...]
    """Ids that do not belong to it, everything else does; empty when ``ids`` are given."""
    digest: str
    """SHA-256 over name and ids, whatever file they came in."""

    def of(self, problems: RepositorySet) -> RepositorySet:
        """The problems that belong to it, in a set of that subset's name.

        Raises `UsageError` naming ids that the set does not have: a view never shrinks silently.
        """
        unknown = [problem_id for problem_id in (*self.ids, *self.without) if problem_id not in problems.by_id]
        if unknown:
            near = str(UnknownNameError("problem", unknown[0], problems.by_id)).partition("; ")[2]
            raise UsageError(
                f"The subset {self.name!r} names {len(unknown)} ids that {problems.source} does not have "
                f"({named_few(unknown)}); {near}"
            )
        chosen = self.ids or tuple(problems.by_id.keys() - set(self.without))
        return problems.subset_of(self.name, chosen)


def read_subset(path: Path) -> NamedSubset:
    """A user's subset.

    A text file has one id per line (``#`` begins a comment) and is named by its file name.  A JSON file is a list of
    ids, or an object with ``ids`` or ``without``, and if wanted ``name`` and ``size``, the number of ids it is to
    have.  Raises `UsageError` naming the file.
    """
    form = _form(path)
    name = form.get("name", path.name.removesuffix(".gz").rpartition(".")[0] or path.name)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(f"{path}: the subset's name is {name!r:.60}; expected letters, digits, '.', '_' and '-'.")
    if ("ids" in form) is ("without" in form):
        raise UsageError(f"{path}: expected either 'ids' or 'without', a list of ids.")
    ids, without = _ids(form.get("ids", []), path), _ids(form.get("without", []), path)
    if not ids and "ids" in form:
        raise UsageError(f"{path} holds no ids.")
    size = form.get("size", len(ids or without))
    if size != len(ids or without):
        raise UsageError(f"{path} says that it has {size!r} ids and has {len(ids or without)}.")
    digest = digest_of({"name": name, "ids": sorted(ids), "without": sorted(without)})
    return NamedSubset(name=name, ids=ids, without=without, digest=digest)


def is_subset_file(subset: str) -> bool:
    """Whether a subset is given as a file of ids rather than by name."""
    return subset.removesuffix(".gz").endswith((".txt", ".json"))


def by_difficulty(problems: RepositorySet, name: str) -> RepositorySet:
    """The problems of one of `DIFFICULTIES`; raises `UsageError` when the rows do not say how hard they are."""
    unsaid = [problem.id for problem in problems.problems if difficulty_of(problem) is None]
    if unsaid:
        raise UsageError(
            f"{problems.source}: {len(unsaid)} of {len(problems.problems)} rows have no 'difficulty' "
            f"({named_few(unsaid)}), so the subset {name} cannot be made."
        )
    wanted = DIFFICULTIES[name]
    chosen = [problem.id for problem in problems.problems if difficulty_of(problem) == wanted]
    if not chosen:
        raise UsageError(f"{problems.source} has no problem of difficulty {wanted!r}.")
    return problems.subset_of(name, chosen)


def _form(path: Path) -> dict[str, Any]:
    data = unpacked(path, most=_MAX_LIST_BYTES)
    if path.name.removesuffix(".gz").endswith(".json"):
        document = parse_document(data, path)
        return document if isinstance(document, dict) else {"ids": document}
    lines = (line.partition("#")[0].strip() for line in decoded(data, path).splitlines())
    return {"ids": [line for line in lines if line]}


def _ids(value: object, path: Path) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise UsageError(f"{path}: the ids are {type_name(value)}; expected a list of strings.")
    wrong = [item for item in value if not isinstance(item, str)]
    if wrong:
        raise UsageError(f"{path}: {wrong[0]!r:.60} is no id; expected a list of strings.")
    twice = sorted(item for item, times in Counter(value).items() if times > 1)
    if twice:
        raise UsageError(f"{path} has ids twice: {named_few(twice)}.")
    return tuple(value)
