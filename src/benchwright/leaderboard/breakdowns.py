"""Where models fail: estimates by domain, library, difficulty, repository and year of the problems."""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from benchwright.core.results import ProblemFacts
from benchwright.stats.breakdown import GroupEstimate, breakdown

KINDS: Mapping[str, Callable[[ProblemFacts], tuple[str, ...]]] = {
    "domain": lambda facts: facts.domains,
    "library": lambda facts: facts.libraries,
    "difficulty": lambda facts: (facts.difficulty,) if facts.difficulty else (),
    "repository": lambda facts: (facts.repository,) if facts.repository else (),
    "year": lambda facts: (facts.created[:4],) if facts.created else (),
}
"""By what problems are grouped, and the groups of one; a problem of several domains or libraries is in each."""

IN_THEIR_ORDER: Mapping[str, str] = {"difficulty": "From easy to hard.", "year": "From old to new."}
"""Kinds whose groups have an order of their own, and which."""

_LEVELS = ("trivial", "easy", "medium", "hard")
_MINUTES = {"min": 1, "hour": 60, "day": 24 * 60}


def breakdowns(
    shares: npt.ArrayLike, problems: Sequence[str], facts: Mapping[str, ProblemFacts], *, rng: np.random.Generator
) -> dict[str, list[GroupEstimate]]:
    """Estimates by every kind of group that divides these problems, the weakest first.

    That is the lowest score first, groups too small to rely on after all the others.  Groups that have an order of
    their own (`IN_THEIR_ORDER`) keep it.

    Args:
        shares: Share of right samples of each problem, nan where there is no result.
        problems: Their ids.
        facts: What is known of them; a problem that is not in it is in no group.
        rng: Source of chance of intervals that are resampled.
    """
    found = {}
    for kind, groups_of in KINDS.items():
        groups = [groups_of(facts[one]) if one in facts else () for one in problems]
        if len({name for names in groups for name in names}) > 1:
            estimates = breakdown(shares, groups, rng=rng)
            found[kind] = sorted(estimates, key=_level if kind in IN_THEIR_ORDER else _weakness)
    return found


def _weakness(one: GroupEstimate) -> tuple[bool, float, int, str]:
    return one.small, one.value, -one.n, one.group


def _level(one: GroupEstimate) -> tuple[float, str]:
    """``<15 min fix``, ``15 min - 1 hour``, ``1-4 hours``, ``>4 hours``; a year by its number; words of difficulty."""
    number = re.search(r"([<>]?)\s*(\d+)", one.group)
    if number is None:
        word = one.group.lower()
        return float(_LEVELS.index(word) if word in _LEVELS else len(_LEVELS)), one.group
    unit = re.search("|".join(_MINUTES), one.group[number.end() :])
    beyond = {"<": -0.5, ">": 0.5}.get(number[1], 0.0)
    return int(number[2]) * (_MINUTES[unit[0]] if unit else 1) + beyond, one.group
