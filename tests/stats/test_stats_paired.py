"""Facts about comparing two systems on the same problems."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.paired import mcnemar_exact, paired_difference


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_twice_the_smaller_tail(only_a: int, only_b: int) -> None:
    """The exact p-value is twice the binomial tail of the smaller count, at most 1."""
    n = only_a + only_b
    tail = sum(math.comb(n, i) for i in range(min(only_a, only_b) + 1)) / 2**n
    assert mcnemar_exact(only_a, only_b) == pytest.approx(min(1.0, 2 * tail))


def test_systems_that_never_differ_are_not_told_apart() -> None:
    """Without a problem on which they differ, p is 1, the difference 0, and the interval as wide as n allows."""
    few = paired_difference([1, 0, 1], [1, 0, 1], rng=np.random.default_rng(0))
    many = paired_difference([1] * 1000, [1] * 1000, rng=np.random.default_rng(0))
    assert (few.difference, few.p_value, few.shown) == (0.0, 1.0, False)
    assert few.low == -few.high < -0.5 < -0.01 < many.low == -many.high < 0
    assert mcnemar_exact(0, 0) == 1.0


def test_a_difference_is_a_minus_b_with_its_counts() -> None:
    """The difference, who was ahead where, and the interval all take A's side."""
    a = [1.0] * 30 + [0.0] * 5 + [1.0] * 65
    b = [0.0] * 30 + [1.0] * 5 + [1.0] * 65
    result = paired_difference(a, b, rng=np.random.default_rng(0))
    assert (result.only_a, result.only_b, result.n) == (30, 5, 100)
    assert result.difference == pytest.approx(0.25)
    assert 0 < result.low < 0.25 < result.high < 0.5
    assert result.p_value == pytest.approx(mcnemar_exact(30, 5))


def test_shared_difficulty_cancels() -> None:
    """Problems on which both do the same do not widen the interval in absolute terms."""
    difficulty = np.random.default_rng(1).random(400)
    result = paired_difference(difficulty * 0.5 + 0.1, difficulty * 0.5, rng=np.random.default_rng(0))
    assert result.high - result.low < 1e-9


@pytest.mark.parametrize(("a", "b"), [([], []), ([1.0], [1.0, 0.0]), ([[1.0]], [[1.0]])])
def test_unequal_or_empty_sequences_are_refused(a: list[float], b: list[float]) -> None:
    """Only one value per problem, for the same problems, can be compared."""
    with pytest.raises(ValueError, match="equally long"):
        paired_difference(a, b, rng=np.random.default_rng(0))


def test_negative_counts_are_refused() -> None:
    """Counts of problems are never negative."""
    with pytest.raises(ValueError, match="counts"):
        mcnemar_exact(-1, 2)
