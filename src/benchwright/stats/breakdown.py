"""Where it fails: an estimate for every group of problems, such as a domain, a library, a repository."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchwright.stats.intervals import bootstrap_mean, wilson_ends

#: Below that, an interval is wider than 35 points in the middle: a group says hardly anything.
SMALL = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEstimate:
    """One group of problems."""

    group: str
    value: float
    """Mean over its problems of the share of right samples."""
    low: float
    high: float
    method: str
    """How the interval was made: ``wilson`` or ``bootstrap(2000)``."""
    n: int
    """Its problems that have a result."""
    small: bool
    """Whether there are so few that the number should not be relied on; to be said beside it."""


def breakdown(
    shares: npt.ArrayLike,
    groups: Sequence[Collection[str]],
    *,
    rng: np.random.Generator,
    rounds: int = 2000,
    confidence: float = 0.95,
) -> list[GroupEstimate]:
    """An estimate for every group, by name.

    Args:
        shares: Share of right samples of each problem, nan where there is no result.
        groups: The groups each problem belongs to: none, one or several, so that a problem may count more than once.
        rng: Source of chance.
        rounds: Of the bootstrap, which is made where shares are not all 0 or 1.
        confidence: Of the intervals, each by itself: of twenty groups one is expected to be off.
    """
    values = np.asarray(shares, dtype=np.float64)
    if values.ndim != 1 or len(groups) != values.size:
        raise ValueError(f"expected one value and one set of groups per problem, got {values.shape} and {len(groups)}")
    members: dict[str, list[int]] = {}
    for index, names in enumerate(groups):
        for name in set(names):
            if not np.isnan(values[index]):
                members.setdefault(name, []).append(index)
    names = sorted(members)
    if np.isin(values[~np.isnan(values)], (0.0, 1.0)).all():
        # All groups at once: a table of 200 models by 140 libraries has 28,000 of them.
        ends = wilson_ends(
            [values[members[name]].sum() for name in names], [len(members[name]) for name in names], confidence
        )
        intervals = [(float(low), float(high), "wilson") for low, high in zip(*ends, strict=True)]
    else:
        intervals = [_interval(values[members[name]], rng, rounds, confidence) for name in names]
    return [
        GroupEstimate(
            group=name,
            value=float(values[members[name]].mean()),
            low=low,
            high=high,
            method=method,
            n=len(members[name]),
            small=len(members[name]) < SMALL,
        )
        for name, (low, high, method) in zip(names, intervals, strict=True)
    ]


def _interval(
    shares: npt.NDArray[np.float64], rng: np.random.Generator, rounds: int, confidence: float
) -> tuple[float, float, str]:
    # Problems that are all alike look certain when they are resampled.
    if shares.min() == shares.max() or np.isin(shares, (0.0, 1.0)).all():
        low, high = wilson_ends(shares.sum(), shares.size, confidence)
        return float(low), float(high), "wilson"
    return *bootstrap_mean(shares, rounds=rounds, rng=rng, confidence=confidence), f"bootstrap({rounds})"
