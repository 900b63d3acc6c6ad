"""The tests of each starter task accept its reference and reject doing nothing."""

import importlib.util
from typing import Any

import pytest

Row = dict[str, Any]
Outcomes = dict[str, dict[str, Any]]


def failed(outcomes: Outcomes, group: str) -> dict[str, str]:
    """Return the details of the programs of a group that did not pass."""
    chosen = {name: outcome for name, outcome in outcomes.items() if name.startswith(group + "/")}
    return {name: outcome["detail"] for name, outcome in chosen.items() if not outcome["passed"]}


def test_references_pass(outcomes: Outcomes) -> None:
    """Each reference passes the tests of its task."""
    assert failed(outcomes, "reference") == {}


def test_stubs_fail(rows: list[Row], outcomes: Outcomes) -> None:
    """A function that does nothing fails the tests of every task."""
    assert len(failed(outcomes, "stub")) == len(rows)


def test_examples_hold(outcomes: Outcomes) -> None:
    """The interactive examples in a docstring show what the reference does."""
    assert failed(outcomes, "examples") == {}


def test_branches_of_the_references_are_covered(rows: list[Row], outcomes: Outcomes) -> None:
    """The tests reach at least 99 per cent of the lines and branches of the references on average."""
    if importlib.util.find_spec("coverage") is None:
        pytest.skip("measuring branches needs coverage")
    measured = {row["task_id"]: outcomes[f"reference/{row['task_id']}"]["coverage"] for row in rows}
    assert sum(measured.values()) / len(measured) >= 99, measured
    assert min(measured.values()) >= 90, measured
