"""How many problems show a difference, and which difference is shown by how many: power of paired comparisons.

Two systems with one sample on each of n problems differ on a share of them, the *disagreement*; the smaller it is, the
sooner a difference shows.  The formulas are Miettinen's (Biometrics 24, 1968) for McNemar's test, as Connor writes them
(Biometrics 43, 1987): they approximate, and the exact test needs a few problems more.
"""

import math
from statistics import NormalDist

from benchwright.stats.intervals import two_sided_quantile

POWER = 0.8
SIGNIFICANCE = 0.05


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


def _quantile(power: float) -> float:
    if not 0 < power < 1:
        raise ValueError(f"expected a power between 0 and 1, got {power}")
    return NormalDist().inv_cdf(power)


def _check(difference: float, disagreement: float) -> None:
    if not 0 < disagreement <= 1 or abs(difference) > disagreement:
        raise ValueError(
            f"expected a disagreement in (0, 1] that is at least the difference, got {disagreement} and {difference}"
        )
