"""Two systems on the same problems: the difference, its interval, and whether chance alone explains it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchwright.stats.intervals import bootstrap_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """Mean of system A minus mean of system B over the problems both were given."""

    difference: float
    low: float
    high: float
    p_value: float
    """Exact McNemar over the problems on which the two differ."""
    only_a: int
    """Problems on which A did better than B."""
    only_b: int
    """Problems on which B did better than A."""
    n: int


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Two-sided exact McNemar test: chance of a split at least this uneven if A and B are equally good.

    Problems that both solve or both miss say nothing and do not enter.  1.0 when the systems never differ.
    """
    if only_a < 0 or only_b < 0:
        raise ValueError(f"expected counts, got {only_a} and {only_b}")
    if only_a + only_b == 0:
        return 1.0
    from scipy import stats  # takes over a second, so not before it is needed

    return float(stats.binomtest(only_a, only_a + only_b, 0.5).pvalue)


def paired_difference(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    rounds: int = 2000,
    confidence: float = 0.95,
) -> PairedDifference:
    """Compare two systems problem by problem; entry i of both belongs to the same problem.

    The interval resamples problems, so that their shared difficulty cancels.  Values may be fractions (solved
    share of several samples); McNemar's test then counts on how many problems each is ahead (the sign test).
    """
    first = np.asarray(a, dtype=np.float64)
    second = np.asarray(b, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1 or first.size == 0:
        raise ValueError(
            f"expected two equally long sequences, one value per problem; got shapes {first.shape} and {second.shape}"
        )
    gains = first - second
    interval = bootstrap_mean(gains, rounds=rounds, rng=rng, confidence=confidence)
    only_a = int((gains > 0).sum())
    only_b = int((gains < 0).sum())
    return PairedDifference(
        difference=float(gains.mean()),
        low=interval.low,
        high=interval.high,
        p_value=mcnemar_exact(only_a, only_b),
        only_a=only_a,
        only_b=only_b,
        n=int(gains.size),
    )
