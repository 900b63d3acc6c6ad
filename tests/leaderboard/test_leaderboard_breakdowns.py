"""In which order the groups of problems stand that say where a model fails."""

import numpy as np
import pytest

from benchwright.core.results import ProblemFacts
from benchwright.leaderboard.breakdowns import breakdowns


def groups(kind: str, names: list[str]) -> list[str]:
    """The order of groups of one problem each, all of which fail."""
    facts = {name: ProblemFacts(id=name, difficulty=name, created=name, domains=(name,)) for name in names}
    found = breakdowns(np.zeros(len(names)), names, facts, rng=np.random.default_rng(0))
    return [one.group for one in found[kind]]


@pytest.mark.parametrize(
    "names",
    [
        ["<15 min fix", "15 min - 1 hour", "1-4 hours", ">4 hours"],
        ["5 min", "1 hour", "90 min", "2 days"],
        ["Easy", "medium", "HARD", "unclear"],
        ["1", "2", "10"],
    ],
)
def test_difficulties_go_from_easy_to_hard(names: list[str]) -> None:
    """By the time they take, by their number, or by common words; what is none of these comes last."""
    assert groups("difficulty", names[::-1]) == names


def test_years_go_from_old_to_new() -> None:
    """Whatever was solved in them."""
    assert groups("year", ["2021", "2019", "2020"]) == ["2019", "2020", "2021"]


def test_the_weakest_group_stands_first_and_small_ones_last() -> None:
    """Scores of a few problems are extreme by chance alone, so that they are looked at after the others."""
    sizes = {"weak": (10, 40), "strong": (35, 40), "few weak": (0, 3), "few strong": (3, 3), "also weak": (10, 40)}
    facts, shares = {}, []
    for name, (right, n) in sizes.items():
        for number in range(n):
            facts[f"{name}{number}"] = ProblemFacts(id=f"{name}{number}", domains=(name,))
            shares.append(float(number < right))
    found = breakdowns(shares, list(facts), facts, rng=np.random.default_rng(0))["domain"]
    assert [one.group for one in found] == ["also weak", "weak", "strong", "few weak", "few strong"]
