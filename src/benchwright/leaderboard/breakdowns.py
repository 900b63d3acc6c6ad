"""Where models fail: estimates by domain, library, difficulty, repository and year of the problems."""

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from benchwright.core.ordering import natural
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

_WORDS = ("trivial", "very easy", "easy", "medium", "hard", "very hard")
_MINUTES = {"min": 1, "hour": 60, "day": 24 * 60}
_TIME = re.compile(r"(\d{1,6})(?:\s*[-–]\s*\d+)?\s*(min|hour|day)", re.ASCII)


def groups_by_kind(problems: Sequence[str], facts: Mapping[str, ProblemFacts]) -> dict[str, list[tuple[str, ...]]]:
    """For every kind the groups of each problem; a problem of which nothing is known is in none."""
    return {
        kind: [groups_of(facts[one]) if one in facts else () for one in problems] for kind, groups_of in KINDS.items()
    }


def level(group: str) -> tuple[int, float, object]:
    """A key for groups that have an order of their own: times to fix, then usual words of difficulty, then the others.

    Such times are ``<15 min fix``, ``15 min - 1 hour``, ``1-4 hours``; among the others are years.
    """
    word = group.strip().lower()
    if found := _TIME.search(word):
        beyond = {"<": -0.5, ">": 0.5}.get(word[:1], 0)
        return 0, int(found[1]) * _MINUTES[found[2]] + beyond, natural(group)
    return (1, _WORDS.index(word), natural(group)) if word in _WORDS else (2, 0, natural(group))


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
    for kind, groups in groups_by_kind(problems, facts).items():
        if len({name for names in groups for name in names}) > 1:
            estimates = breakdown(shares, groups, rng=rng)
            found[kind] = sorted(estimates, key=_level if kind in IN_THEIR_ORDER else _weakness)
    return found


def _weakness(one: GroupEstimate) -> tuple[bool, float, int, str]:
    return one.small, one.value, -one.n, one.group


def _level(one: GroupEstimate) -> tuple[int, float, object]:
    return level(one.group)
