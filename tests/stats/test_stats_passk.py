"""Facts about the unbiased estimates of pass@k and pass^k."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.stats.passk import pass_at_k, pass_hat_k


@st.composite
def counts(draw: st.DrawFn, largest: int) -> tuple[int, int, int]:
    n = draw(st.integers(1, largest))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(counts(9))
def test_equals_drawing_every_subset(drawn: tuple[int, int, int]) -> None:
    """The estimate is the share of all subsets of k samples that hold a right one."""
    n, c, k = drawn
    subsets = list(itertools.combinations(range(n), k))
    share = sum(any(index < c for index in subset) for subset in subsets) / len(subsets)
    assert pass_at_k(n, c, k) == pytest.approx(share, rel=1e-15)


@given(counts(1000))
def test_pass_at_one_is_the_share_and_more_draws_never_hurt(drawn: tuple[int, int, int]) -> None:
    """For k = 1 the estimate is c / n, and it neither falls with k nor leaves [0, 1]."""
    n, c, k = drawn
    assert pass_at_k(n, c, 1) == c / n
    assert 0.0 <= pass_at_k(n, c, 1) <= pass_at_k(n, c, k) <= 1.0
    assert pass_at_k(n, c, n) == (1.0 if c else 0.0)


@given(
    st.integers(1001, 100_000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, min(n, 300))))
)
def test_large_counts_keep_their_precision(drawn: tuple[int, int, int]) -> None:
    """Beyond the exact range the estimate still agrees with exact fractions to twelve digits."""
    n, c, k = drawn
    exact = 1 - Fraction(math.comb(n - c, k), math.comb(n, k))
    assert pass_at_k(n, c, k) == pytest.approx(float(exact), rel=1e-12, abs=0)


def test_a_single_hit_among_very_many_is_not_rounded_away() -> None:
    """One right sample of 10**12 gives k / 10**12, which 1 - product would lose."""
    assert pass_at_k(10**12, 1, 100) == pytest.approx(1e-10, rel=1e-12)


@pytest.mark.parametrize("bad", [(0, 0, 1), (5, 6, 1), (5, -1, 1), (5, 2, 0), (5, 2, 6), (-1, -1, 1)])
def test_impossible_counts_are_refused(bad: tuple[int, int, int]) -> None:
    """Counts that no experiment can give raise instead of returning a number."""
    with pytest.raises(ValueError, match="expected"):
        pass_at_k(*bad)


@given(counts(300))
def test_all_are_right_when_none_is_wrong(drawn: tuple[int, int, int]) -> None:
    """pass^k is the chance that not one of k samples is among the wrong ones."""
    n, c, k = drawn
    assert pass_hat_k(n, c, k) == pytest.approx(1 - pass_at_k(n, n - c, k), abs=1e-12)
    assert pass_hat_k(n, c, k) <= pass_hat_k(n, c, 1) == c / n


def test_all_of_k_is_the_share_of_subsets() -> None:
    """Of the six pairs of four samples, three of which are right, three are all right."""
    assert pass_hat_k(4, 3, 2) == 0.5


@pytest.mark.parametrize("bad", [(5, 6, 1), (5, -1, 1), (5, 2, 0), (5, 2, 6)])
def test_impossible_counts_are_refused_for_all_of_k_too(bad: tuple[int, int, int]) -> None:
    """The same counts as for pass@k."""
    with pytest.raises(ValueError, match="expected"):
        pass_hat_k(*bad)
