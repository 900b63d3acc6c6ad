"""From a row in SWE-bench's format to a problem, and back."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from benchwright.benchmarks.jsonl import type_name
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.ordering import natural
from benchwright.core.repositories import RepositoryProblem

_NEEDED = ("instance_id", "repo", "base_commit", "version", "problem_statement")
_TEST_FIELDS = ("test_patch", "FAIL_TO_PASS", "PASS_TO_PASS")

# Ids become names of folders and layers, repositories part of addresses, commits arguments of git.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_REPO = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def to_problem(row: Mapping[str, Any], *, benchmark: str, where: str = "the row") -> RepositoryProblem:
    """The problem that a row describes.

    ``FAIL_TO_PASS`` and ``PASS_TO_PASS`` are lists, or strings that hold a JSON list as the published data has them.
    Absent or null ``hints_text``, ``created_at``, ``patch`` and ``difficulty`` are empty; without
    ``environment_setup_commit`` the environment is that of the base commit.  A row that has none of the three fields
    about tests is taken without tests (`benchwright.benchmarks.repositories.has_tests`): enough to plan and build
    environments.  Raises `UsageError` naming ``where``, the id and the field.
    """
    for field in _NEEDED:
        if not _text(row, field, where).strip():
            raise UsageError(f"{where}: the field {field!r} is empty or missing; a row needs {', '.join(_NEEDED)}.")
    problem_id = _matching(row, "instance_id", _ID, "letters, digits, '.', '_', '+' and '-'", where)
    where = f"{where} ({problem_id})"
    base_commit = _matching(row, "base_commit", _COMMIT, "a full commit id of 40 (or 64) hexadecimal digits", where)
    environment_commit = base_commit
    if _text(row, "environment_setup_commit", where):
        environment_commit = _matching(row, "environment_setup_commit", _COMMIT, "a full commit id or nothing", where)
    tests = _tests(row, where)
    repo = _matching(row, "repo", _REPO, "owner/name", where)
    difficulty = _text(row, "difficulty", where)
    return with_digest(
        RepositoryProblem(
            benchmark=benchmark,
            id=problem_id,
            repo=repo,
            version=_matching(row, "version", _VERSION, "a version such as 3.1", where),
            base_commit=base_commit,
            environment_commit=environment_commit,
            issue=_text(row, "problem_statement", where),
            hints=_text(row, "hints_text", where),
            created_at=_date(row, where),
            reference_patch=_text(row, "patch", where),
            test_patch=tests.patch,
            fail_to_pass=tests.fail_to_pass,
            pass_to_pass=tests.pass_to_pass,
            tags=(repo, difficulty) if difficulty else (repo,),
            digest="",
        )
    )


def to_problems(rows: Iterable[tuple[str, Mapping[str, Any]]], *, benchmark: str) -> tuple[RepositoryProblem, ...]:
    """Problems of rows, each with words that say where it stands; sorted by id, no id twice."""
    problems: dict[str, RepositoryProblem] = {}
    places: dict[str, str] = {}
    for where, row in rows:
        problem = to_problem(row, benchmark=benchmark, where=where)
        if problem.id in problems:
            raise UsageError(
                f"{where}: instance_id {problem.id!r} was already given in {places[problem.id]}; each row needs an id "
                "of its own."
            )
        problems[problem.id] = problem
        places[problem.id] = where
    return tuple(sorted(problems.values(), key=lambda problem: natural(problem.id)))


def to_row(problem: RepositoryProblem) -> dict[str, Any]:
    """The problem as an official row, with the test lists as JSON strings; `to_problem` reads it back."""
    canonical = canonical_row(problem)
    for field in ("FAIL_TO_PASS", "PASS_TO_PASS"):
        canonical[field] = json.dumps(canonical[field])
    difficulty = difficulty_of(problem)
    return canonical | ({"difficulty": difficulty} if difficulty else {})


def canonical_row(problem: RepositoryProblem) -> dict[str, Any]:
    """The fields that define a problem, in one spelling for all file formats.

    ``difficulty`` does not enter: the published subsets lack it, and their rows are to be the same rows.
    """
    return {
        "instance_id": problem.id,
        "repo": problem.repo,
        "version": problem.version,
        "base_commit": problem.base_commit,
        "environment_setup_commit": problem.environment_commit,
        "problem_statement": problem.issue,
        "hints_text": problem.hints,
        "created_at": problem.created_at,
        "patch": problem.reference_patch,
        "test_patch": problem.test_patch,
        "FAIL_TO_PASS": list(problem.fail_to_pass),
        "PASS_TO_PASS": list(problem.pass_to_pass),
    }


def with_digest(problem: RepositoryProblem) -> RepositoryProblem:
    """The problem with the digest of its own row."""
    return replace(problem, digest=digest_of(canonical_row(problem)))


def difficulty_of(problem: RepositoryProblem) -> str | None:
    """The annotators' estimate of the time to fix it, as the row spells it, or None."""
    return next((tag for tag in problem.tags if tag != problem.repo), None)


class _Tests(NamedTuple):
    patch: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]


def _tests(row: Mapping[str, Any], where: str) -> _Tests:
    given = [field for field in _TEST_FIELDS if row.get(field) is not None]
    if not given:
        return _Tests("", (), ())
    absent = [field for field in _TEST_FIELDS if field not in given]
    if absent:
        raise UsageError(f"{where}: has {' and '.join(given)} but no {' and '.join(absent)}; give all three or none.")
    tests = _Tests(_text(row, "test_patch", where), _ids(row, "FAIL_TO_PASS", where), _ids(row, "PASS_TO_PASS", where))
    if not tests.fail_to_pass:
        raise UsageError(f"{where}: has no tests in FAIL_TO_PASS; without one, nothing tells a fix from no fix.")
    if not tests.patch.strip():
        raise UsageError(f"{where}: has no tests: the field 'test_patch' is empty.")
    return tests


def _ids(row: Mapping[str, Any], field: str, where: str) -> tuple[str, ...]:
    value = row[field]
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"{where}: the field {field!r} is a string that holds no JSON list ({row[field]!r:.60})."
            ) from error
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise UsageError(f"{where}: the field {field!r} is {type_name(value)}; expected a list of test ids.")
    wrong = next((item for item in value if not isinstance(item, str) or not item), None)
    if wrong is not None or None in value:
        raise UsageError(f"{where}: the field {field!r} holds {wrong!r:.40}; expected test ids, which are strings.")
    return tuple(value)


def _text(row: Mapping[str, Any], field: str, where: str) -> str:
    value = row.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        number = " (a version of 3.10 and one of 3.1 are the same number)" if field == "version" else ""
        raise UsageError(f"{where}: the field {field!r} is {type_name(value)}; expected a string{number}.")
    return value


def _matching(row: Mapping[str, Any], field: str, pattern: re.Pattern[str], expected: str, where: str) -> str:
    value = _text(row, field, where)
    if not pattern.fullmatch(value):
        raise UsageError(f"{where}: the field {field!r} is {value!r:.80}; expected {expected}.")
    return value


def _date(row: Mapping[str, Any], where: str) -> str:
    value = row.get("created_at")
    if isinstance(value, datetime):  # Parquet files that type the column
        aware = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return _text(row, "created_at", where)
