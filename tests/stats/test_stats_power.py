"""Power of paired comparisons, against Monte Carlo and against itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.paired import mcnemar_exact
from benchwright.stats.power import power_of, problems_needed, smallest_difference


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
