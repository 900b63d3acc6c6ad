"""The same model several times: how much its score moves, how reliably it solves, how many runs show a difference."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from benchwright.stats.intervals import two_sided_quantile
from benchwright.stats.power import POWER, SIGNIFICANCE

#: No distribution of numbers between 0 and 1 has a larger standard deviation: half of all runs at 0, half at 1.
LARGEST_SD = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How much the score of one model moves from run to run on the same problems."""

    means: tuple[float, ...]
    """Score of each run."""
    mean: float
    sd: float
    """Standard deviation of a run's score."""
    low: float
    high: float
    """Interval of that standard deviation (chi-square, up to the largest one that shares can have); with few runs it
    is wide."""
    by_chance: float
    """The standard deviation that single problems' own chance makes, if no run differs from others as a whole."""
    p_value: float
    """Chance of a spread this large from the problems' own chance; small when something moved whole runs."""
    changing: int
    """Problems whose result is not the same in all runs."""
    runs: int
    problems: int
    """Problems with a result in every run; only these are counted."""


def spread(results: npt.ArrayLike, *, confidence: float = 0.95) -> Spread:
    """The spread between runs of one model, given a row per problem and a column per run (nan: no result).

    Results are shares, so the interval ends at the largest standard deviation that shares can have, 0.5; only the
    estimate from a few runs can lie beyond it (0.71 for a run at 0 and a run at 1), and then it is the end.
    """
    table = np.asarray(results, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(f"expected a row per problem and a column for each of at least two runs, got {table.shape}")
    table = table[~np.isnan(table).any(axis=1)]
    problems, runs = table.shape
    if not problems:
        raise ValueError("expected at least one problem with a result in every run, there is none")
    means = table.mean(axis=0)
    sd = float(means.std(ddof=1))
    by_chance = math.sqrt(float(table.var(axis=1, ddof=1).sum())) / problems
    from scipy import special  # takes a while, so not before it is needed

    two_sided_quantile(confidence)  # refuses what is no confidence
    outer, free = (1 - confidence) / 2, runs - 1
    ends = [sd * math.sqrt(free / float(special.chdtri(free, tail))) for tail in (outer, 1 - outer)]
    return Spread(
        means=tuple(float(one) for one in means),
        mean=float(means.mean()),
        sd=sd,
        low=ends[0],
        high=min(ends[1], max(LARGEST_SD, sd)),
        by_chance=by_chance,
        p_value=float(special.chdtrc(free, free * sd**2 / by_chance**2)) if by_chance else 1.0,
        changing=int((table.min(axis=1) < table.max(axis=1)).sum()),
        runs=runs,
        problems=problems,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceParts:
    """Where the uncertainty of a difference of two models comes from, as variances of one problem's result."""

    within: float
    """Chance of a single run on a problem, mean over problems and over the two models."""
    between: float
    """Between problems, of the difference of the two models' chances to solve them."""
    problems: int


def variance_parts(a: npt.ArrayLike, b: npt.ArrayLike) -> VarianceParts:
    """Estimate both parts from repeated runs of two models: a row per problem, the same in both, a column per run.

    Raises `ValueError` without two runs of each: a single run does not tell a problem's chance from its difficulty.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 2 or second.ndim != 2 or len(first) != len(second) or min(first.shape[1], second.shape[1]) < 2:
        raise ValueError(f"expected at least two runs of each on the same problems, got {first.shape}, {second.shape}")
    use = ~np.isnan(first).any(axis=1) & ~np.isnan(second).any(axis=1)
    if use.sum() < 2:
        raise ValueError("expected at least two problems with a result in every run of both")
    first, second = first[use], second[use]
    within_a, within_b = (float(one.var(axis=1, ddof=1).mean()) for one in (first, second))
    seen = float((first.mean(axis=1) - second.mean(axis=1)).var(ddof=1))
    between = max(0.0, seen - within_a / first.shape[1] - within_b / second.shape[1])
    return VarianceParts(within=(within_a + within_b) / 2, between=between, problems=int(use.sum()))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsNeeded:
    """How many runs of each of two models show a difference between them."""

    difference: float
    on_these: int
    """When the question is which is better on just these problems."""
    on_such: int | None
    """When it is which is better on problems like these; None when only more problems can show it."""
    problems_for_one_run: int
    """Problems like these that would show it with a single run of each."""


def runs_needed(
    difference: float,
    parts: VarianceParts,
    *,
    power: float = POWER,
    significance: float = SIGNIFICANCE,
) -> RunsNeeded:
    """Runs of each of two models after which a true difference of their scores shows with the given chance.

    From the sample size formula of Miller (arXiv:2411.00640, section 5): the variance of the difference is
    ``(between + 2 within / runs) / problems``; on just these problems ``between`` is no uncertainty.  ``difference``
    is a share: 0.02 for two points.
    """
    reach = _reach(difference, power, significance)
    variance = parts.problems * difference**2 / reach  # of one problem's difference that still shows
    left = variance - parts.between
    return RunsNeeded(
        difference=difference,
        on_these=_runs(parts.within, variance),
        on_such=_runs(parts.within, left) if left > 0 else None,
        problems_for_one_run=max(1, math.ceil((parts.between + 2 * parts.within) * reach / difference**2)),
    )


def runs_needed_by_spread(
    difference: float, sd: float, *, power: float = POWER, significance: float = SIGNIFICANCE
) -> int:
    """The same on just these problems, by how much whole runs were seen to differ instead of by the problems' chance.

    With ``sd`` the standard deviation of a run's score, the difference of the means of r runs each has the variance
    ``2 sd² / r``.  It is the larger number where something moves whole runs.
    """
    return _runs(sd**2, difference**2 / _reach(difference, power, significance))


def _reach(difference: float, power: float, significance: float) -> float:
    """Squared standard errors that a difference has to be away from 0."""
    if not 0 < abs(difference) <= 1 or not 0 < power < 1:
        raise ValueError(f"expected a difference other than 0 and a power between 0 and 1, got {difference}, {power}")
    return float((two_sided_quantile(1 - significance) + NormalDist().inv_cdf(power)) ** 2)


def _runs(within: float, variance: float) -> int:
    return max(1, math.ceil(2 * within / variance))


def consistency(per_problem: Sequence[tuple[int, int]]) -> tuple[int, int, int]:
    """Of problems given as (samples, right samples): how many are always, sometimes and never solved."""
    always = sum(right == samples for samples, right in per_problem)
    never = sum(right == 0 for _, right in per_problem)
    return always, len(per_problem) - always - never, never
