"""How many problems show a difference, and which difference is shown by how many: power of paired comparisons.

Two systems with one sample on each of n problems differ on a share of them, the *disagreement*; the smaller it is, the
sooner a difference shows.  The formulas are Miettinen's (Biometrics 24, 1968) for McNemar's test, as Connor writes them
(Biometrics 43, 1987): they approximate, and the exact test needs a few problems more.
"""

import math
from collections.abc import Hashable, Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from benchwright.stats.intervals import effective_units, membership, two_sided_quantile

POWER = 0.8
SIGNIFICANCE = 0.05
TWO_POINTS = 0.02
"""What one often wants to see, and what single runs of one model show by chance (2.2 to 6.0 points in
arXiv:2602.07150)."""


def power_of(n: int, difference: float, disagreement: float, *, significance: float = SIGNIFICANCE) -> float:
    """The chance that n problems show a true difference of two shares, the systems differing on this share of them."""
    _check(difference, disagreement)
    if n < 1:
        raise ValueError(f"expected at least one problem, got {n}")
    beyond = abs(difference) * math.sqrt(n) - two_sided_quantile(1 - significance) * math.sqrt(disagreement)
    spread = math.sqrt(disagreement - difference**2)
    return NormalDist().cdf(beyond / spread) if spread else float(beyond >= 0)


def problems_needed(
    difference: float, disagreement: float, *, power: float = POWER, significance: float = SIGNIFICANCE
) -> int:
    """Problems after which a true difference of two shares is shown with the given chance."""
    _check(difference, disagreement)
    if difference == 0:
        raise ValueError("expected a difference other than 0: no number of problems shows that there is none")
    reach = two_sided_quantile(1 - significance) * math.sqrt(disagreement)
    reach += _quantile(power) * math.sqrt(disagreement - difference**2)
    return max(1, math.ceil(reach**2 / difference**2))


def smallest_difference(
    n: int, disagreement: float, *, power: float = POWER, significance: float = SIGNIFICANCE
) -> float | None:
    """The smallest true difference of two shares that n problems show with the given chance.

    None when they would not even if one system were ahead on every problem on which the two differ.
    """
    _quantile(power)
    if power_of(n, disagreement, disagreement, significance=significance) < power:
        return None
    low, high = 0.0, disagreement
    while high - low > 1e-9:
        middle = (low + high) / 2
        if power_of(n, middle, disagreement, significance=significance) < power:
            low = middle
        else:
            high = middle
    return high


def smallest_clustered_difference(
    gains: npt.ArrayLike,
    clusters: Sequence[Hashable],
    *,
    power: float = POWER,
    significance: float = SIGNIFICANCE,
) -> float | None:
    """The smallest true difference that shows with the given chance when clusters of problems are resampled.

    The clustered standard error of the mean of ``gains`` (A minus B for each problem, with a cluster's label for
    each), times the quantiles of Student's t for significance and power; with many clusters that is 2.8 of them.  As
    for the interval, clusters of unequal size count as fewer (`benchwright.stats.intervals.effective_units`).  None
    where no difference of shares would show, and where nothing is known: a single cluster, or none that differs.
    """
    _quantile(power)
    values = np.asarray(gains, dtype=np.float64)
    member = membership(clusters, values.size)
    units = effective_units(values.size, clusters)
    # How far each cluster's sum is from what the mean says of so many problems.
    off = member @ (values - values.mean())
    error = math.sqrt(float((off**2).sum())) / values.size
    if units <= 1 or not error:
        return None
    from scipy import special  # takes a while, so not before it is needed

    error *= math.sqrt(units / (units - 1))
    free = units - 1
    reach = float(special.stdtrit(free, 1 - significance / 2) + special.stdtrit(free, power))
    return reach * error if reach * error <= 1 else None


def _quantile(power: float) -> float:
    if not 0 < power < 1:
        raise ValueError(f"expected a power between 0 and 1, got {power}")
    return NormalDist().inv_cdf(power)


def _check(difference: float, disagreement: float) -> None:
    if not 0 < disagreement <= 1 or abs(difference) > disagreement:
        raise ValueError(
            f"expected a disagreement in (0, 1] that is at least the difference, got {disagreement} and {difference}"
        )
