"""Where models fail: estimates by domain, library, difficulty, repository and year of the problems."""

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


def breakdowns(
    shares: npt.ArrayLike, problems: Sequence[str], facts: Mapping[str, ProblemFacts], *, rng: np.random.Generator
) -> dict[str, list[GroupEstimate]]:
    """Estimates by every kind of group that divides these problems, the largest groups first.

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
            found[kind] = sorted(estimates, key=lambda one: (-one.n, one.group))
    return found
