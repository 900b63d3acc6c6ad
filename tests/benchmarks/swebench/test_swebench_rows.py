"""Facts about rows in SWE-bench's format and the problems made of them."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from benchwright.benchmarks.repositories import has_tests
from benchwright.benchmarks.swebench.rows import difficulty_of, to_problem, to_problems, to_row
from benchwright.core.errors import UsageError
from benchwright.core.repositories import RepositoryProblem

MakeRow = Callable[..., dict[str, Any]]


def problem_of(row: dict[str, Any]) -> RepositoryProblem:
    return to_problem(row, benchmark="repositories", where="rows.jsonl, line 7")


def test_a_row_becomes_a_problem(row: MakeRow) -> None:
    """Every field of a complete row arrives where the problem says it is."""
    problem = problem_of(row(difficulty="15 min - 1 hour"))
    assert (problem.benchmark, problem.id, problem.repo, problem.version) == (
        "repositories",
        "owner__pkg-1",
        "owner/pkg",
        "3.10",
    )
    assert (problem.base_commit, problem.environment_commit) == ("a" * 40, "b" * 40)
    assert problem.fail_to_pass == ("test_core.py::test_x",)
    assert problem.pass_to_pass == ("test_core.py::test_y", "test_core.py::test_z[a b]")
    assert problem.tags == ("owner/pkg", "15 min - 1 hour")
    assert difficulty_of(problem) == "15 min - 1 hour"
    assert len(bytes.fromhex(problem.digest)) == 32
    assert has_tests(problem)


def test_test_lists_may_be_lists(row: MakeRow) -> None:
    """A list and the JSON string of it are the same row."""
    listed = row(
        FAIL_TO_PASS=["test_core.py::test_x"], PASS_TO_PASS=["test_core.py::test_y", "test_core.py::test_z[a b]"]
    )
    assert problem_of(listed) == problem_of(row())


def test_optional_fields_may_be_absent_or_null(row: MakeRow) -> None:
    """Hints, date, reference and the environment's commit have defaults; null is the same as absent."""
    fields = ("hints_text", "created_at", "patch", "environment_setup_commit")
    absent = problem_of(row(**dict.fromkeys(fields, ...)))
    assert absent == problem_of(row(**dict.fromkeys(fields)))
    assert (absent.hints, absent.created_at, absent.reference_patch) == ("", "", "")
    assert absent.environment_commit == absent.base_commit
    assert absent.tags == ("owner/pkg",)
    assert difficulty_of(absent) is None


def test_the_digest_is_over_what_defines_the_problem(row: MakeRow) -> None:
    """Difficulty and unknown fields do not change the digest; a test id does."""
    digest = problem_of(row()).digest
    assert problem_of(row(difficulty="1-4 hours", image="some/image")).digest == digest
    assert problem_of(row(PASS_TO_PASS='["test_core.py::test_y"]')).digest != digest


def test_a_typed_date_is_spelled_as_the_published_rows_spell_it(row: MakeRow) -> None:
    """Parquet files whose column has a time type give the same problem as those with text."""
    assert problem_of(row(created_at=datetime(2020, 5, 1, 18, 29, 11))) == problem_of(row())  # noqa: DTZ001


def test_a_row_without_tests_is_enough_to_build_environments(row: MakeRow) -> None:
    """A statement by itself loads, and says that it has no tests."""
    problem = problem_of(row(test_patch=..., FAIL_TO_PASS=..., PASS_TO_PASS=...))
    assert not has_tests(problem)
    assert (problem.test_patch, problem.fail_to_pass, problem.pass_to_pass) == ("", (), ())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"FAIL_TO_PASS": "[]"}, "has no tests in FAIL_TO_PASS"),
        ({"test_patch": " \n"}, "has no tests: the field 'test_patch' is empty"),
        ({"test_patch": ...}, "has FAIL_TO_PASS and PASS_TO_PASS but no test_patch; give all three or none"),
        ({"PASS_TO_PASS": None}, "but no PASS_TO_PASS"),
        ({"FAIL_TO_PASS": "test_x"}, "'FAIL_TO_PASS' is a string that holds no JSON list"),
        ({"FAIL_TO_PASS": '{"a": 1}'}, "'FAIL_TO_PASS' is an object; expected a list of test ids"),
        ({"PASS_TO_PASS": [1]}, "'PASS_TO_PASS' holds 1; expected test ids"),
        ({"PASS_TO_PASS": ["a", None]}, "'PASS_TO_PASS' holds None"),
        ({"version": 3.1}, "'version' is a number; expected a string"),
        ({"version": "3.1; rm"}, "'version' is '3.1; rm'"),
        ({"repo": "pkg"}, "'repo' is 'pkg'; expected owner/name"),
        ({"repo": "../etc"}, "'repo' is '../etc'"),
        ({"base_commit": "main"}, "'base_commit' is 'main'; expected a full commit id"),
        ({"base_commit": "--upload-pack=x"}, "'base_commit' is"),
        ({"environment_setup_commit": "HEAD"}, "'environment_setup_commit' is 'HEAD'"),
        ({"problem_statement": ...}, "'problem_statement' is empty or missing"),
        ({"problem_statement": ["x"]}, "'problem_statement' is a list; expected a string"),
        ({"patch": 5}, "'patch' is a number"),
        ({"created_at": 2020}, "'created_at' is a number"),
    ],
)
def test_a_flawed_row_is_named_with_its_field(row: MakeRow, changes: dict[str, Any], message: str) -> None:
    """The message has the place, the id and the field."""
    with pytest.raises(UsageError) as caught:
        problem_of(row(**changes))
    assert str(caught.value).startswith("rows.jsonl, line 7")
    assert message in str(caught.value)


@pytest.mark.parametrize("instance_id", ["", "a/b", "..", "-x", "a b", "a\n", None, 3])
def test_an_id_is_a_safe_file_name(row: MakeRow, instance_id: object) -> None:
    """Ids name folders and layers, so anything else than a plain name is refused."""
    with pytest.raises(UsageError, match="instance_id"):
        problem_of(row(instance_id=instance_id))


def test_ids_are_unique_and_in_natural_order(row: MakeRow) -> None:
    """Number 9 comes before number 10; a second row of one id names both places."""
    rows = [(f"line {n}", row(f"owner__pkg-{n}")) for n in (10, 9)]
    assert [problem.id for problem in to_problems(rows, benchmark="b")] == ["owner__pkg-9", "owner__pkg-10"]
    with pytest.raises(UsageError, match=r"line 3: instance_id 'owner__pkg-9' was already given in line 9"):
        to_problems([*rows, ("line 3", row("owner__pkg-9"))], benchmark="b")


def test_a_problem_can_be_written_as_a_row_again(row: MakeRow) -> None:
    """An official row of a problem reads back as the same problem."""
    problem = problem_of(row(difficulty="<15 min fix"))
    assert problem_of(to_row(problem)) == problem
