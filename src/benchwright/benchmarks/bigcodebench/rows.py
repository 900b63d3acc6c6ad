"""Rows of the data set from a local file, and from a row to a problem."""

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.benchmarks.jsonl import read_json_lines, type_name
from benchwright.benchmarks.reading import Hasher
from benchwright.benchmarks.tables import is_parquet, read_parquet_rows
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.ordering import natural
from benchwright.core.problems import FunctionProblem

_TEXT_FIELDS = (
    "task_id",
    "complete_prompt",
    "instruct_prompt",
    "canonical_solution",
    "code_prompt",
    "test",
    "entry_point",
)
# These may not be empty either: nothing could be graded.
_NEEDED_TEXT = frozenset({"task_id", "complete_prompt", "code_prompt", "test", "entry_point"})


class RowFile(NamedTuple):
    """The problems of one data file."""

    problems: tuple[FunctionProblem, ...]
    """In the order of their ids."""
    file_sha256: str
    """SHA-256 of the file as stored."""


def read_problems(path: Path, *, benchmark: str = "bigcodebench") -> RowFile:
    """Read a data file: ``.jsonl``, ``.jsonl.gz`` or ``.parquet``, recognised by its content.

    Raises `UsageError` that names file, line (or row) and field for anything that is not a usable row, and
    for an id that occurs twice.
    """
    hasher = hashlib.sha256()
    rows = read_parquet_rows(path, hasher) if is_parquet(path) else _json_rows(path, hasher)
    problems = problems_of(rows, benchmark=benchmark)
    if not problems:
        raise UsageError(f"{path} holds no rows; expected the benchmark's tasks, one per line.")
    return RowFile(problems, hasher.hexdigest())


def problems_of(
    rows: Iterable[tuple[str, Mapping[str, Any]]], *, benchmark: str = "bigcodebench"
) -> tuple[FunctionProblem, ...]:
    """Problems of rows, each with words that say where it stands; sorted by id, no id twice."""
    problems: dict[str, FunctionProblem] = {}
    places: dict[str, str] = {}
    for where, row in rows:
        problem = to_problem(row, benchmark=benchmark, where=where)
        if problem.id in problems:
            raise UsageError(
                f"{where}: task_id {problem.id!r} was already given in {places[problem.id]}; each task needs "
                "an id of its own."
            )
        problems[problem.id] = problem
        places[problem.id] = where
    return tuple(sorted(problems.values(), key=lambda problem: natural(problem.id)))


def to_problem(row: Mapping[str, Any], *, benchmark: str = "bigcodebench", where: str = "the row") -> FunctionProblem:
    """The problem that a row describes; raises `UsageError` naming ``where`` and the field."""
    canonical = canonical_row(row, where)
    return FunctionProblem(
        benchmark=benchmark,
        id=canonical["task_id"],
        prompts={"complete": canonical["complete_prompt"], "instruct": canonical["instruct_prompt"]},
        stub=canonical["code_prompt"],
        entry_point=canonical["entry_point"],
        test_source=canonical["test"],
        # The newline is the official harness's own, in its check of the references.
        reference=canonical["complete_prompt"] + "\n" + canonical["canonical_solution"],
        libraries=tuple(canonical["libs"]),
        tags=_names(row.get("domains", []), "domains", where),
        digest=digest_of(canonical),
    )


def canonical_row(row: Mapping[str, Any], where: str = "the row") -> dict[str, Any]:
    """The fields that define a task, in one spelling for all file formats.

    ``libs`` is a list here (published files hold a string with a Python list).  ``doc_struct``, which repeats
    the docstring, and fields that some files add do not enter, so that the tasks of ``bigcodebench-hard`` are
    the same rows as in the full set.
    """
    canonical: dict[str, Any] = {field: _text(row, field, where) for field in _TEXT_FIELDS}
    if "libs" not in row:
        raise UsageError(f"{where}: the field 'libs' is missing; expected the list of libraries.")
    canonical["libs"] = list(_names(row["libs"], "libs", where))
    return canonical


def digest_of_problems(problems: Iterable[FunctionProblem]) -> str:
    """Digest of a data set: SHA-256 over the digests of its canonical rows, sorted by task id."""
    return digest_of([problem.digest for problem in sorted(problems, key=lambda problem: problem.id)])


def _text(row: Mapping[str, Any], field: str, where: str) -> str:
    if field not in row:
        raise UsageError(
            f"{where}: the field {field!r} is missing; a task has the fields {', '.join(_TEXT_FIELDS)}, libs."
        )
    value = row[field]
    if not isinstance(value, str):
        raise UsageError(f"{where}: the field {field!r} is {type_name(value)}; expected a string.")
    if field in _NEEDED_TEXT and not value.strip():
        raise UsageError(f"{where}: the field {field!r} is empty.")
    return value


def _names(value: object, field: str, where: str) -> tuple[str, ...]:
    """A list of names, also when it is spelled as a string that holds a Python list."""
    names = value
    if isinstance(value, str):
        try:
            names = ast.literal_eval(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            names = None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{where}: the field {field!r} is {value!r:.80}; expected a list of names.")
    return tuple(names)


def _json_rows(path: Path, hasher: Hasher) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for line in read_json_lines(path, hasher):
        where = f"{path}, line {line.number}"
        if line.undecodable is not None:
            raise UsageError(f"{where}: byte {line.undecodable} is not UTF-8.")
        yield where, line.value
