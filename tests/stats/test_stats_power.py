"""Power of paired comparisons, against Monte Carlo and against itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.paired import mcnemar_exact, paired_difference
from benchwright.stats.power import power_of, problems_needed, smallest_clustered_difference, smallest_difference


def test_the_power_is_how_often_the_test_shows_it() -> None:
    """Of 500 problems, 20 % disagreement, 6 points of difference; the exact test shows it a bit less often."""
    rng = np.random.default_rng(0)
    ahead, behind, _ = rng.multinomial(500, [0.13, 0.07, 0.8], size=3000).T
    plain = np.abs(ahead - behind) > 1.959964 * np.sqrt(ahead + behind)
    exact = [mcnemar_exact(int(a), int(b)) < 0.05 for a, b in zip(ahead, behind, strict=True)]
    assert power_of(500, 0.06, 0.2) == pytest.approx(plain.mean(), abs=0.02)
    assert plain.mean() - 0.06 < np.mean(exact) <= plain.mean()


def test_problems_for_two_points_at_the_disagreement_of_like_models() -> None:
    """(1.96 √0.15 + 0.84 √(0.15 - 0.0004))² / 0.0004: two points take thousands of problems."""
    assert problems_needed(0.02, 0.15) == 2941
    assert problems_needed(0.10, 0.15) == 116


@given(st.floats(0.005, 0.3), st.floats(0.01, 1.0), st.floats(0.5, 0.99))
def test_so_many_problems_have_the_power_and_one_less_has_not(
    difference: float, disagreement: float, power: float
) -> None:
    """The number needed is the smallest that does; and what it shows is no larger than what was asked for."""
    disagreement = max(difference + 0.001, disagreement)
    n = problems_needed(difference, disagreement, power=power)
    assert power_of(n, difference, disagreement) >= power - 1e-9
    assert n == 1 or power_of(n - 1, difference, disagreement) < power + 1e-9
    smallest = smallest_difference(n, disagreement, power=power)
    assert smallest is not None
    assert smallest <= difference + 1e-6


def test_too_few_problems_show_nothing() -> None:
    """Ten problems with 20 % disagreement: not even two to nothing is shown."""
    assert smallest_difference(10, 0.2) is None
    assert power_of(100, 1.0, 1.0) == 1.0
    assert power_of(1, 1.0, 1.0) == 0.0


@pytest.mark.parametrize(
    ("difference", "disagreement", "power"), [(0.0, 0.2, 0.8), (0.3, 0.2, 0.8), (0.1, 1.2, 0.8), (0.1, 0.2, 1.0)]
)
def test_what_cannot_be_is_refused(difference: float, disagreement: float, power: float) -> None:
    """No difference, one larger than the disagreement, a share above 1, certainty."""
    with pytest.raises(ValueError, match="expected"):
        problems_needed(difference, disagreement, power=power)
    with pytest.raises(ValueError, match="one problem"):
        power_of(0, 0.1, 0.2)


def test_clusters_show_what_their_own_interval_shows() -> None:
    """Twelve repositories, whose rates differ: a difference of that size shows in about four of five benchmarks."""
    rng = np.random.default_rng(5)
    clusters = [number // 20 for number in range(240)]

    def gains(mean: float) -> np.ndarray:
        rates = np.clip(rng.normal(mean, 0.15, 12), -0.7, 0.7)
        found: np.ndarray = np.repeat(rates, 20) + rng.choice([-0.3, 0.3], 240)
        return found

    sizes = [smallest_clustered_difference(gains(0.0), clusters) for _ in range(100)]
    assert None not in sizes
    size = float(np.mean([one for one in sizes if one is not None]))
    shown = [
        paired_difference(gains(size), np.zeros(240), rng=rng, rounds=500, clusters=clusters).shown for _ in range(400)
    ]
    assert np.mean(shown) == pytest.approx(0.8, abs=0.06)


def test_many_clusters_of_one_problem_need_2_8_standard_errors() -> None:
    """The quantiles of the normal distribution, and the plain standard error."""
    gains = np.random.default_rng(6).choice([-1.0, 0.0, 1.0], 5000, p=[0.1, 0.8, 0.1])
    error = gains.std(ddof=1) / np.sqrt(5000)
    assert smallest_clustered_difference(gains, range(5000)) == pytest.approx(2.8016 * error, rel=1e-3)


@pytest.mark.parametrize(
    ("gains", "clusters"),
    [([1.0, 0.0], "aa"), ([0.0, 0.0], "ab"), ([1.0, -1.0], "ab")],
    ids=["one cluster", "no difference anywhere", "more than shares can differ"],
)
def test_clusters_that_show_nothing_have_no_such_size(gains: list[float], clusters: str) -> None:
    """None, instead of a number that nobody could reach or that nothing is known of."""
    assert smallest_clustered_difference(gains, clusters) is None
