"""Versions of the evaluation: which results may be ranked together, and a changelog that says the same."""

import dataclasses
import itertools
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.agents import AgentLimits, NativeTools
from benchwright.core.evaluation import (
    EVALUATION_VERSION,
    VERSIONS,
    Evaluation,
    EvaluationChange,
    EvaluationVersion,
    breaking_changes,
    fixes_for,
    incomparable,
)

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "evaluation-versions.md"


def change(name: str, *concerns: str, comparable: bool = False) -> EvaluationChange:
    """A change that breaks comparability unless told otherwise."""
    return EvaluationChange(id=name, text=f"what {name} is", comparable=comparable, concerns=concerns)


COUNTING = change("reasoning-counted", "provider:google")
WORDING = change("wording", comparable=True)
SHELL = change("native-shell", "tool:shell")
NARROW = change("narrow", "provider:google", "provider:grok", "scaffold:loop")
PROMPT = change("prompt")
HISTORY = (
    EvaluationVersion(version="1.0.0", date="2026-01-01"),
    EvaluationVersion(version="1.0.1", date="2026-02-01", changes=(COUNTING, WORDING)),
    EvaluationVersion(version="1.1.0", date="2026-03-01", changes=(SHELL, NARROW)),
    EvaluationVersion(version="2.0.0", date="2026-04-01", changes=(PROMPT,)),
)
PLACES = {version.version: place for place, version in enumerate(HISTORY)}


def result(version: str = "1.0.0", provider: str = "openai", **changes: Any) -> Evaluation:
    """A result of one provider's model under a version, with the fixes that it then has."""
    values: dict[str, Any] = {
        "scaffold": "loop",
        "limits": AgentLimits(),
        "native_tools": NativeTools.AUTO,
        "samples": 1,
        "tools": (),
        **changes,
    }
    versions = HISTORY[: PLACES.get(version, 0) + 1]
    fixes = fixes_for(provider, values["scaffold"], values["tools"] or (), versions)
    return Evaluation(**{"version": version, "provider": provider, "fixes": fixes, **values})


def reasons(a: Evaluation, b: Evaluation) -> tuple[str, ...]:
    """Why the two are not comparable in these versions; the other way round there are as many reasons."""
    found = incomparable(a, b, HISTORY)
    assert len(incomparable(b, a, HISTORY)) == len(found)
    return found


def test_breaking_changes_lie_between_two_versions() -> None:
    """Those of the later version and of all in between, in order, whichever comes first; comparable ones do not."""
    assert breaking_changes("1.0.0", "1.1.0", HISTORY) == (COUNTING, SHELL, NARROW)
    assert breaking_changes("1.1.0", "1.0.0", HISTORY) == (COUNTING, SHELL, NARROW)
    assert breaking_changes("1.1.0", "2.0.0", HISTORY) == (PROMPT,)
    assert breaking_changes("2.0.0", "2.0.0", HISTORY) == ()
    with pytest.raises(ValueError, match=r"3\.0\.0"):
        breaking_changes("1.0.0", "3.0.0", HISTORY)


@pytest.mark.parametrize(
    ("provider", "scaffold", "tools", "fixes"),
    [
        ("openai", "loop", (), ("wording", "prompt")),
        ("google", "codex", (), ("reasoning-counted", "wording", "prompt")),
        ("google", "loop", (), ("reasoning-counted", "wording", "narrow", "prompt")),
        ("grok", "loop", (), ("wording", "narrow", "prompt")),
        ("openai", "loop", ("shell", "apply_patch"), ("wording", "native-shell", "prompt")),
    ],
)
def test_a_result_has_the_changes_that_concern_it(
    provider: str, scaffold: str, tools: tuple[str, ...], fixes: tuple[str, ...]
) -> None:
    """Of one kind of name any may fit, of different kinds all must; a change without names concerns everyone."""
    assert fixes_for(provider, scaffold, tools, HISTORY) == fixes


def test_a_change_of_one_provider_leaves_the_others_comparable() -> None:
    """An old result that a fix does not concern stands beside a new one; the provider's own old result does not."""
    old, old_google = result("1.0.0"), result("1.0.0", "google", scaffold="codex")
    new, new_google = result("1.0.1"), result("1.0.1", "google")
    assert reasons(old, new) == ()
    assert reasons(old, new_google) == ()
    assert reasons(old_google, dataclasses.replace(new, scaffold="codex")) == (
        "A is of evaluation 1.0.0, without the change reasoning-counted (what reasoning-counted is)",
    )
    assert "without the change reasoning-counted" in reasons(old_google, dataclasses.replace(new_google))[0]


def test_a_fix_may_be_had_by_an_older_result() -> None:
    """A result that records a later version's fix, its tokens counted again say, does not lack it."""
    old = result("1.0.0", "google")
    assert reasons(old, result("1.0.1")) != ()
    assert reasons(dataclasses.replace(old, fixes=("reasoning-counted",)), result("1.0.1")) == ()


def test_a_change_of_native_tools_concerns_who_used_them() -> None:
    """The result with the tool needs to be made again, the one without it does not."""
    assert len(reasons(result("1.0.1", tools=("shell",)), result("1.1.0"))) == 1
    assert reasons(result("1.0.1"), result("1.1.0", tools=("shell",))) == ()


def test_a_change_that_concerns_everyone_separates_all() -> None:
    """Nobody's earlier result stands beside a later one, and every change in between is named."""
    found = reasons(result("1.0.0", "google"), result("2.0.0"))
    assert [name for name in ("reasoning-counted", "narrow", "prompt") if any(name in text for text in found)] == [
        "reasoning-counted",
        "narrow",
        "prompt",
    ]
    assert len(found) == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data_version": "2"}, "A is on version 1 of the data, B on 2"),
        ({"scaffold": "codex"}, "A is of scaffold loop, B of codex"),
        (
            {"limits": AgentLimits(uncached_tokens=500_000, turns=9)},
            "the budgets differ (uncached tokens: A 2,000,000, B 500,000; turns: A no limit, B 9)",
        ),
        (
            {"native_tools": NativeTools.OFF, "tools": ()},
            "native tools are auto (shell) in A, off in B",
        ),
        ({"samples": 4}, "the samples for each problem are 1 in A, 4 in B"),
    ],
)
def test_results_made_in_other_ways_are_not_comparable(changes: dict[str, Any], words: str) -> None:
    """What was asked of the models must be the same, whatever the version."""
    a = result(tools=("shell",), data_version="1")
    assert reasons(a, result(**{"tools": ("shell",), "data_version": "1", **changes})) == (words,)


def test_a_setting_that_made_no_difference_is_none() -> None:
    """Native tools by whatever a provider has are one setting; switched off where there are none changes nothing."""
    assert reasons(result(tools=("shell",)), result(provider="google")) == ()
    assert reasons(result(), result(native_tools=NativeTools.OFF)) == ()
    unknown = "native tools are auto in A, off in B"
    assert reasons(result(tools=None), result(native_tools=NativeTools.OFF, tools=None)) == (unknown,)
    assert reasons(result(tools=None), result(native_tools=NativeTools.OFF)) == (unknown,)
    assert reasons(result(tools=None), result(tools=("shell",))) == ()


def test_an_unknown_version_is_not_comparable() -> None:
    """A result of a later program cannot be judged by this one, unless both are of that version."""
    later = dataclasses.replace(result(), version="9.0.0")
    assert reasons(result(), later) == ("B is of evaluation 9.0.0, which is not known here (the newest is 2.0.0)",)
    assert reasons(later, later) == ()


def test_an_evaluation_comes_back_from_a_manifest() -> None:
    """Plain data and back; fields that a manifest keeps elsewhere may be left out, foreign data is refused."""
    one = result("1.1.0", "google", tools=("shell",), data_version="1.2", limits=AgentLimits(cost=2.5, turns=7))
    assert Evaluation.from_plain(one.to_plain()) == one
    short = {name: value for name, value in one.to_plain().items() if name not in ("tools", "data_version")}
    assert Evaluation.from_plain(short) == dataclasses.replace(one, tools=None, data_version="")
    others = ({"limits": {"colour": 1}}, {"include_ignored": []})
    for foreign in ({"limits": None}, {"native_tools": "maybe"}, {"colour": "red"}, *others):
        with pytest.raises((TypeError, ValueError)):
            Evaluation.from_plain({**one.to_plain(), **foreign})


def test_names_of_other_kinds_are_refused() -> None:
    """A change that would concern nobody for a slip of the pen is not made."""
    for name in ("google", "model:gemini", "provider:"):
        with pytest.raises(ValueError, match="expected provider:NAME"):
            change("x", name)


def test_versions_are_in_order() -> None:
    """Numbers and dates go up, ids of changes are never used again, and the newest version is the current one."""
    numbers = [tuple(map(int, version.version.split("."))) for version in VERSIONS]
    days = [date.fromisoformat(version.date) for version in VERSIONS]
    ids = [change.id for version in VERSIONS for change in version.changes]
    assert all(a < b for a, b in itertools.pairwise(numbers))
    assert all(a <= b for a, b in itertools.pairwise(days))
    assert len(ids) == len(set(ids))
    assert VERSIONS[-1].version == EVALUATION_VERSION


def documented() -> tuple[EvaluationVersion, ...]:
    """The versions as the page lists them: a heading, the date, and a row for each change."""
    sections = re.split(r"^## (?=\d)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    versions = []
    for section in sections:
        title, _, rest = section.partition("\n")
        day = re.search(r"\d{4}-\d{2}-\d{2}", rest)
        assert day is not None
        rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in rest.splitlines() if "|" in line]
        changes = tuple(
            EvaluationChange(
                id=name.strip("`"),
                text=text,
                comparable={"yes": True, "no": False}[stays],
                concerns=tuple(re.findall(r"`([^`]+)`", concerned)),
            )
            for name, text, stays, concerned in rows[2:]
        )
        versions.append(EvaluationVersion(version=title.strip(), date=day[0], changes=changes))
    return tuple(versions)


def test_the_page_and_the_list_agree() -> None:
    """Every version with its date, every change with its id, sentence, comparability and names; the newest first."""
    assert tuple(reversed(documented())) == VERSIONS
