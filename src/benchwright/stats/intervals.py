"""Intervals: Wilson for one sample per problem, bootstrap over problems for anything else."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: Numbers held at once while resampling (32 MB): memory does not grow with problems times rounds.
_BLOCK = 4_000_000


class Interval(NamedTuple):
    """Both ends of a confidence interval."""

    low: float
    high: float


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson score interval of a share; never of zero width, also when nothing or everything succeeded."""
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"expected 0 <= successes <= n and n >= 1, got successes={successes} and n={n}")
    _check_confidence(confidence)
    from scipy import stats  # takes over a second, so not before it is needed

    interval = stats.binomtest(successes, n).proportion_ci(confidence_level=confidence, method="wilson")
    return Interval(float(interval.low), float(interval.high))


def bootstrap_mean(
    values: npt.ArrayLike, *, rounds: int, rng: np.random.Generator, confidence: float = 0.95
) -> Interval:
    """Percentile interval of the mean of one value per problem, the problems resampled with replacement."""
    column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    return bootstrap_means(column, rounds=rounds, rng=rng, confidence=confidence)[0]


def bootstrap_means(
    table: npt.ArrayLike, *, rounds: int, rng: np.random.Generator, confidence: float = 0.95
) -> list[Interval]:
    """Percentile interval of the mean of each column; all columns see the same resampled rows."""
    matrix = np.asarray(table, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] < 1:
        raise ValueError(f"expected a table with a row per problem, got shape {matrix.shape}")
    if rounds < 1:
        raise ValueError(f"expected at least one round, got {rounds}")
    _check_confidence(confidence)
    n = matrix.shape[0]
    equal_shares = np.full(n, 1.0 / n)
    means = np.empty((rounds, matrix.shape[1]))
    step = max(1, _BLOCK // n)
    for start in range(0, rounds, step):
        size = min(step, rounds - start)
        # How often each problem is drawn, instead of which ones: a matrix product replaces the gathering.
        counts = rng.multinomial(n, equal_shares, size=size)
        means[start : start + size] = counts @ matrix / n
    tail = (1.0 - confidence) / 2
    lows, highs = np.quantile(means, [tail, 1.0 - tail], axis=0)
    return [Interval(float(low), float(high)) for low, high in zip(lows, highs, strict=True)]


def _check_confidence(confidence: float) -> None:
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"expected a confidence between 0 and 1, got {confidence}")
