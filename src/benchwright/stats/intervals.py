"""Intervals: Wilson for one sample per problem, bootstrap over problems or groups of problems for anything else.

The bootstrap takes *expanded* percentiles (Hesterberg, The American Statistician 69:4, 2015, section 5.2): with few
problems plain percentiles are too narrow, as a z interval with the n-denominator spread is beside a t interval, so
the percentiles are taken further out by just that ratio.  With a thousand problems nothing changes.

Clusters of unequal size count as fewer than there are, by Kish's effective number (Survey Sampling, 1965): the twelve
repositories of SWE-bench Verified, one of which has 231 of its 500 problems, as 3.9.  That is on the safe side; taken
as twelve they give intervals that are too narrow.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: What chance starts from unless somebody asks for another: any fixed number, for the same rows must give the same
#: interval.
SEED = 20240622
#: Numbers held at once while resampling (32 MB): memory does not grow with problems times rounds.
_BLOCK = 4_000_000


class Interval(NamedTuple):
    """Both ends of a confidence interval."""

    low: float
    high: float


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson score interval of a share; never of zero width, also when nothing or everything succeeded."""
    low, high = wilson_ends(successes, n, confidence)
    return Interval(float(low), float(high))


def wilson_ends(
    successes: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Lower and upper ends of Wilson's interval (JASA 22:158, 1927) for many shares at once."""
    right, total = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if not (np.all(total >= 1) and np.all(right >= 0) and np.all(right <= total)):
        raise ValueError(f"expected 0 <= successes <= n and n >= 1, got successes={right} and n={total}")
    z = two_sided_quantile(confidence)
    share = right / total
    centre = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * np.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    # Rounding must not push an end past the share where they coincide.
    return np.clip(centre - half, 0.0, share), np.clip(centre + half, share, 1.0)


def two_sided_quantile(confidence: float) -> float:
    """Standard deviations to both sides of the mean that hold this share of a normal distribution: 1.96 for 0.95."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"expected a confidence between 0 and 1, got {confidence}")
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def bootstrap_mean(
    values: npt.ArrayLike,
    *,
    rounds: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: Sequence[Hashable] | None = None,
) -> Interval:
    """Interval of the mean of one value per problem, the problems (or whole clusters) resampled with replacement."""
    column = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    return bootstrap_means(column, rounds=rounds, rng=rng, confidence=confidence, clusters=clusters)[0]


def bootstrap_means(
    table: npt.ArrayLike,
    *,
    rounds: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
    clusters: Sequence[Hashable] | None = None,
) -> list[Interval]:
    """Interval of the mean of each column; all columns see the same resampled rows.

    Args:
        table: A row per problem.
        rounds: How often to resample.
        rng: Source of chance; the same one gives the same intervals.
        confidence: Share of benchmarks like this one whose interval should hold the true mean.
        clusters: A label per problem, such as its repository.  Problems of one label are then drawn together: right
            when problems of a cluster resemble each other and the next benchmark would have other clusters.
    """
    means = resampled_means(table, rounds=rounds, rng=rng, clusters=clusters)
    tail = expanded_tail(effective_units(np.shape(table)[0], clusters), confidence)
    lows, highs = np.quantile(means, [tail, 1.0 - tail], axis=0)
    return [Interval(float(low), float(high)) for low, high in zip(lows, highs, strict=True)]


def resampled_means(
    table: npt.ArrayLike, *, rounds: int, rng: np.random.Generator, clusters: Sequence[Hashable] | None = None
) -> npt.NDArray[np.float64]:
    """Means of the columns (second axis) in each round (first axis) of resampling rows, or clusters of rows."""
    matrix = np.asarray(table, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] < 1:
        raise ValueError(f"expected a table with a row per problem, got shape {matrix.shape}")
    if rounds < 1:
        raise ValueError(f"expected at least one round, got {rounds}")
    sums, sizes = matrix, np.ones(matrix.shape[0])
    if clusters is not None:
        member = membership(clusters, matrix.shape[0])
        sums, sizes = member @ matrix, member.sum(axis=1)
    means = np.empty((rounds, matrix.shape[1]))
    step = max(1, _BLOCK // len(sizes))
    for start in range(0, rounds, step):
        size = min(step, rounds - start)
        # How often each row is drawn, instead of which ones: a matrix product replaces the gathering.
        counts = draws(len(sizes), size, rng)
        means[start : start + size] = counts @ sums / (counts @ sizes)[:, None]
    return means


def draws(n: int, rounds: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """How often each of n things (second axis) comes up when n are drawn with replacement, round by round."""
    drawn = rng.integers(0, n, size=(rounds, n))  # counting them takes a fifth of the time that `multinomial` does
    drawn += np.arange(rounds)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=rounds * n).reshape(rounds, n).astype(np.float64)


def membership(clusters: Sequence[Hashable], n: int) -> npt.NDArray[np.float64]:
    """A row per cluster, in order of appearance, and a column per problem; 1 where the problem belongs to it."""
    if len(clusters) != n:
        raise ValueError(f"expected a cluster for each of {n} problems, got {len(clusters)}")
    numbers: dict[Hashable, int] = {}
    rows = [numbers.setdefault(label, len(numbers)) for label in clusters]
    member = np.zeros((len(numbers), n))
    member[rows, np.arange(n)] = 1.0
    return member


def effective_units(n: int, clusters: Sequence[Hashable] | None) -> float:
    """As how many units n problems count: n, or (sum of sizes)² / (sum of squared sizes) of their clusters."""
    if clusters is None:
        return float(n)
    sizes = np.array(list(Counter(clusters).values()), dtype=np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def expanded_tail(units: float, confidence: float) -> float:
    """The share of rounds to leave out at each end, so that few units get the width of a t interval."""
    plain = (1.0 - confidence) / 2
    two_sided_quantile(confidence)  # refuses what is no confidence
    if units <= 1:
        return plain  # one unit tells nothing of the spread; every round is the same anyway
    from scipy import special  # takes a while, so not before it is needed

    t = float(special.stdtrit(units - 1, 1.0 - plain))
    return NormalDist().cdf(-t * (units / (units - 1)) ** 0.5)
