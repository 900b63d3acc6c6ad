"""The recorded answers of the three fictitious systems show what their README says."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

Row = dict[str, Any]
Outcomes = dict[str, dict[str, Any]]

EXPECTED: dict[str, Any] = json.loads(Path(__file__).with_name("expected_failures.json").read_text("utf-8"))


def failing(outcomes: Outcomes, system: str, mode: str) -> list[str]:
    """Return the ids of the answers of a system that fail in a mode, in the order of their numbers."""
    prefix = f"{system}/{mode}/"
    return [name.removeprefix(prefix) for name, o in outcomes.items() if name.startswith(prefix) and not o["passed"]]


@pytest.mark.parametrize("system", ["alder", "birch", "cedar"])
def test_each_system_answers_each_task_once(system: str, rows: list[Row], answers: dict[str, list[Row]]) -> None:
    """A file has one row per task, in the order of the tasks."""
    assert [answer["task_id"] for answer in answers[system]] == [row["task_id"] for row in rows]


@pytest.mark.parametrize("system", ["alder", "birch", "cedar"])
def test_solutions_are_the_fenced_code(system: str, answers: dict[str, list[Row]]) -> None:
    """A solution is the code block of the raw answer; a raw answer without one has an empty solution."""
    for answer in answers[system]:
        assert set(answer) == {"task_id", "solution", "raw_solution", "note"}
        _, fence, rest = answer["raw_solution"].partition("```python\n")
        assert answer["solution"] == (rest.partition("```")[0] if fence else "")


@pytest.mark.parametrize("system", ["alder", "birch"])
@pytest.mark.parametrize("mode", ["alone", "calibrated"])
def test_planned_failures(system: str, mode: str, outcomes: Outcomes) -> None:
    """Exactly the answers that are meant to fail do so."""
    assert failing(outcomes, system, mode) == EXPECTED[system][mode]


@pytest.mark.parametrize("system", ["alder", "birch"])
def test_notes_tell_the_outcome(system: str, answers: dict[str, list[Row]]) -> None:
    """A note begins with "wrong" exactly where the answer fails even with the stub in front."""
    wrong = [answer["task_id"] for answer in answers[system] if answer["note"].startswith("wrong")]
    assert wrong == EXPECTED[system]["calibrated"]


def test_alder_is_strong(rows: list[Row]) -> None:
    """Alder is right on 85 to 92 per cent of the tasks, with or without the stub."""
    assert EXPECTED["alder"]["alone"] == EXPECTED["alder"]["calibrated"]
    assert 0.85 <= 1 - len(EXPECTED["alder"]["alone"]) / len(rows) <= 0.92


def test_birch_needs_the_stub(rows: list[Row], answers: dict[str, list[Row]]) -> None:
    """About a third of birch's answers pass only with the stub, and with it birch is as good as alder."""
    only_with_stub = set(EXPECTED["birch"]["alone"]) - set(EXPECTED["birch"]["calibrated"])
    noted = {answer["task_id"] for answer in answers["birch"] if "leaves out" in answer["note"]}
    assert only_with_stub == noted
    assert len(only_with_stub) >= 7
    assert 0.25 <= len(only_with_stub) / len(rows) <= 0.4
    assert len(EXPECTED["birch"]["calibrated"]) == len(EXPECTED["alder"]["calibrated"])


def test_lazy_answers_fail_by_name(answers: dict[str, list[Row]], outcomes: Outcomes) -> None:
    """On their own, the answers that leave out imports and constants fail with NameError."""
    for answer in answers["birch"]:
        if "leaves out" in answer["note"]:
            assert "NameError" in outcomes[f"birch/alone/{answer['task_id']}"]["detail"], answer["task_id"]


def test_kinds_of_cedar(answers: dict[str, list[Row]]) -> None:
    """Cedar has one answer of each hostile or broken kind, is right eight times, and otherwise wrong."""
    assert Counter(answer["note"] for answer in answers["cedar"]) == EXPECTED["cedar"]["notes"]


@pytest.mark.parametrize("mode", ["alone", "calibrated"])
def test_harmless_answers_of_cedar(mode: str, answers: dict[str, list[Row]], outcomes: Outcomes) -> None:
    """Of the answers of cedar that are safe to run, exactly those noted as right pass."""
    right = [answer["task_id"] for answer in answers["cedar"] if answer["note"] == "right"]
    harmless = [name.removeprefix(f"cedar/{mode}/") for name in outcomes if name.startswith(f"cedar/{mode}/")]
    wrong = failing(outcomes, "cedar", mode)
    assert [task_id for task_id in harmless if task_id not in wrong] == right
