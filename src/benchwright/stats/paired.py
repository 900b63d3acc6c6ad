"""Two systems on the same problems: the difference, its interval, and whether chance alone explains it."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchwright.stats.intervals import Interval, bootstrap_mean, membership, two_sided_quantile

#: Rounds of the permutation test; its p-value is then off by at most 0.0022 (standard deviation, at p = 0.05).
PERMUTATIONS = 10_000
#: With so few groups that can change sides all 2**12 assignments are counted instead of drawn.
_ALL_UP_TO = 12
#: Numbers held at once while permuting (32 MB).
_BLOCK = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """Mean of system A minus mean of system B over the problems both were given."""

    difference: float
    low: float
    high: float
    p_value: float
    """Exact McNemar over the problems on which the two differ; it takes every problem as independent."""
    only_a: int
    """Problems on which A did better than B."""
    only_b: int
    """Problems on which B did better than A."""
    n: int
    method: str = ""
    """How the interval was made: ``bonett-price`` or ``bootstrap(2000)``."""
    clusters: int | None = None
    """Groups of problems that were resampled as a whole; None when single problems were."""

    @property
    def shown(self) -> bool:
        """Whether the interval leaves out 0: whether these results show which of the two is better."""
        return not self.low <= 0 <= self.high


def mcnemar_exact(only_a: int, only_b: int) -> float:
    """Two-sided exact McNemar test: chance of a split at least this uneven if A and B are equally good.

    Problems that both solve or both miss say nothing and do not enter.  1.0 when the systems never differ.
    """
    if only_a < 0 or only_b < 0:
        raise ValueError(f"expected counts, got {only_a} and {only_b}")
    from scipy import special  # takes a while, so not before it is needed

    # With half a chance each way the distribution is symmetric: both tails are twice one.
    return min(1.0, 2 * float(special.bdtr(min(only_a, only_b), only_a + only_b, 0.5)))


def paired_difference(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    rounds: int = 2000,
    confidence: float = 0.95,
    clusters: Sequence[Hashable] | None = None,
) -> PairedDifference:
    """Compare two systems problem by problem; entry i of both belongs to the same problem.

    With one sample for each problem the interval is Bonett and Price's (see :func:`bonett_price`).  Values may be
    fractions (solved share of several samples), or ``clusters`` may have a label per problem, such as its repository:
    then problems, or clusters, are resampled.  Either way their shared difficulty cancels.  McNemar's test counts on
    how many problems each is ahead, which for fractions is the sign test.
    """
    first, second = _two_columns(a, b)
    gains = first - second
    only_a = int((gains > 0).sum())
    only_b = int((gains < 0).sum())
    if clusters is None and np.isin(gains, (-1.0, 0.0, 1.0)).all():
        interval, method = bonett_price(only_a, only_b, gains.size, confidence), "bonett-price"
    else:
        interval = bootstrap_mean(gains, rounds=rounds, rng=rng, confidence=confidence, clusters=clusters)
        method = f"bootstrap({rounds})"
    return PairedDifference(
        difference=float(gains.mean()),
        low=interval.low,
        high=interval.high,
        p_value=mcnemar_exact(only_a, only_b),
        only_a=only_a,
        only_b=only_b,
        n=int(gains.size),
        method=method,
        clusters=None if clusters is None else len(set(clusters)),
    )


def bonett_price(only_a: int, only_b: int, n: int, confidence: float = 0.95) -> Interval:
    """Interval of the difference of two paired shares (Bonett and Price, J. Educ. Behav. Stat. 37:4, 2012).

    Wald's interval after one problem was added on which A alone is right and one on which B alone is; never of zero
    width, also when the two never differ.  It has its coverage where resampling has not: few problems, or few on
    which the two differ.
    """
    if min(only_a, only_b) < 0 or only_a + only_b > n or n < 1:
        raise ValueError(f"expected counts of at most n >= 1 problems, got {only_a}, {only_b} and n={n}")
    for_a, for_b = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    centre = for_a - for_b
    half = two_sided_quantile(confidence) * ((for_a + for_b - centre**2) / (n + 2)) ** 0.5
    difference = (only_a - only_b) / n
    return Interval(max(-1.0, min(centre - half, difference)), min(1.0, max(centre + half, difference)))


def permutation_p_value(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    rounds: int = PERMUTATIONS,
    clusters: Sequence[Hashable] | None = None,
) -> float:
    """Two-sided permutation test: chance of a difference this large if it were open which result is whose.

    On every problem (or in every cluster) the two results change sides with a chance of one half.  With one sample
    for each problem and no clusters that is McNemar's exact test, and its p-value is returned; for up to 12 groups
    that differ all assignments are counted; otherwise they are drawn, and the observed one is counted among them, so
    that p is never 0 (Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9:1, 2010).
    """
    first, second = _two_columns(a, b)
    gains = first - second
    if clusters is None and np.isin(gains, (-1.0, 0.0, 1.0)).all():
        return mcnemar_exact(int((gains > 0).sum()), int((gains < 0).sum()))
    if clusters is not None:
        gains = membership(clusters, gains.size) @ gains
    gains = gains[gains != 0]
    # Sums of the same numbers in another order differ by rounding; that must not make them smaller.
    observed = abs(gains.sum()) - 1e-9
    if gains.size <= _ALL_UP_TO:
        signs = 1.0 - 2.0 * (np.arange(2**gains.size)[:, None] >> np.arange(gains.size) & 1)
        return float((np.abs(signs @ gains) >= observed).mean())
    if rounds < 1:
        raise ValueError(f"expected at least one round, got {rounds}")
    step, as_large = max(1, _BLOCK // gains.size), 0
    for start in range(0, rounds, step):
        signs = 1.0 - 2.0 * rng.integers(0, 2, size=(min(step, rounds - start), gains.size))
        as_large += int((np.abs(signs @ gains) >= observed).sum())
    return (as_large + 1) / (rounds + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values (Scandinavian Journal of Statistics 6, 1979), in the order given.

    Calling "different" what is below 0.05 then makes a mistake anywhere in the family with a chance below 5 %,
    whatever the tests have to do with each other.
    """
    order = sorted(range(len(p_values)), key=lambda index: p_values[index])
    adjusted, largest = [1.0] * len(p_values), 0.0
    for done, index in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - done) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def _two_columns(a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    first = np.asarray(a, dtype=np.float64)
    second = np.asarray(b, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1 or first.size == 0:
        raise ValueError(
            f"expected two equally long sequences, one value per problem; got shapes {first.shape} and {second.shape}"
        )
    if np.isnan(first).any() or np.isnan(second).any():
        raise ValueError("expected a value for every problem; leave out those that one of the two has no result for")
    return first, second
