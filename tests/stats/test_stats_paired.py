"""Facts about comparing two systems on the same problems."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchwright.stats.intervals import bootstrap_mean
from benchwright.stats.paired import (
    bonett_price,
    holm,
    mcnemar_exact,
    paired_difference,
    permutation_p_value,
)


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


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 100))
def test_the_interval_of_paired_shares_follows_its_formula(only_a: int, only_b: int, both: int) -> None:
    """Wald's interval after one more of each kind of disagreement, never shorter than to the difference itself."""
    n = only_a + only_b + both
    a, b = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    half = stats.norm.ppf(0.975) * math.sqrt((a + b - (a - b) ** 2) / (n + 2))
    low, high = bonett_price(only_a, only_b, n)
    assert low == pytest.approx(max(-1, min(a - b - half, (only_a - only_b) / n)))
    assert high == pytest.approx(min(1, max(a - b + half, (only_a - only_b) / n)))
    assert bonett_price(only_b, only_a, n) == pytest.approx((-high, -low))


def test_interval_and_exact_test_agree_where_they_should() -> None:
    """Of 400 problems and up to 60 disagreements, they say different things only where p is between 0.025 and 0.08."""
    for only_a, only_b in itertools.product(range(31), repeat=2):
        low, high = bonett_price(only_a, only_b, 400)
        if (not low <= 0 <= high) != (mcnemar_exact(only_a, only_b) < 0.05):
            assert 0.025 < mcnemar_exact(only_a, only_b) < 0.08


def test_formula_and_resampling_agree_on_many_problems() -> None:
    """With a thousand problems the interval is the one of a bootstrap, to a tenth of a point."""
    rng = np.random.default_rng(2)
    gains = rng.choice([-1.0, 0.0, 1.0], p=[0.07, 0.83, 0.1], size=1000)
    interval = paired_difference(gains, np.zeros(1000), rng=rng)
    resampled = bootstrap_mean(gains, rounds=20_000, rng=rng)
    assert interval.method == "bonett-price"
    assert (interval.low, interval.high) == pytest.approx(resampled, abs=0.001)


def test_fractions_and_clusters_are_resampled() -> None:
    """Shares of several samples need a bootstrap; so do clusters, which widen the interval when problems are alike."""
    gains = np.repeat(np.random.default_rng(3).choice([0.0, 1.0], size=30), 10)
    zeros = np.zeros(300)
    single = paired_difference(gains / 2, zeros, rng=np.random.default_rng(0), rounds=500)
    together = paired_difference(
        gains, zeros, rng=np.random.default_rng(0), rounds=500, clusters=[i // 10 for i in range(300)]
    )
    assert (single.method, single.clusters) == ("bootstrap(500)", None)
    assert (together.method, together.clusters) == ("bootstrap(500)", 30)
    assert together.high - together.low > 2 * 2 * (single.high - single.low)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=60))
def test_permuting_single_samples_is_mcnemars_test(gains: list[float]) -> None:
    """With one sample for each problem both are the same binomial, so nothing is drawn."""
    expected = mcnemar_exact(gains.count(1.0), gains.count(-1.0))
    assert permutation_p_value(gains, [0.0] * len(gains), rng=np.random.default_rng(0)) == expected


@given(st.lists(st.sampled_from([-0.75, -0.5, 0.25, 0.5, 1.0]), min_size=1, max_size=9))
def test_few_problems_are_permuted_in_every_way(gains: list[float]) -> None:
    """The p-value is the share of all assignments of sides that differ at least as much."""
    gains = [*gains, 0.5]
    sums = [
        abs(sum(s * g for s, g in zip(signs, gains, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(gains))
    ]
    expected = sum(one >= abs(sum(gains)) - 1e-12 for one in sums) / len(sums)
    assert permutation_p_value(gains, [0.0] * len(gains), rng=np.random.default_rng(0)) == pytest.approx(expected)


def test_many_problems_are_permuted_at_random_as_scipy_does() -> None:
    """The same p-value as scipy's permutation test of paired samples, up to chance, and never 0."""
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 5, 80) / 4, rng.integers(0, 5, 80) / 4 - 0.1
    ours = permutation_p_value(a, b, rng=rng)
    theirs = stats.permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=9999,
        vectorized=True,
        rng=rng,
    ).pvalue
    assert ours == pytest.approx(theirs, abs=0.02)
    assert permutation_p_value(np.full(50, 0.5), np.zeros(50), rng=rng, rounds=99) == 0.01
    with pytest.raises(ValueError, match="one round"):
        permutation_p_value(np.full(50, 0.5), np.zeros(50), rng=rng, rounds=0)


def test_clusters_change_sides_as_a_whole() -> None:
    """Three clusters have eight assignments, of which two are as uneven as this, however many problems they have."""
    gains, labels = [1.0] * 30, ["x"] * 10 + ["y"] * 10 + ["z"] * 10
    assert permutation_p_value(gains, [0.0] * 30, rng=np.random.default_rng(0), clusters=labels) == 0.25


def test_holm_multiplies_step_by_step() -> None:
    """Holm's own scheme on 0.01, 0.04, 0.03, 0.005: the smallest times four, then times three, never falling."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.6, 0.7]) == [1.0, 1.0]


def test_a_missing_value_and_impossible_counts_are_refused() -> None:
    """A problem without a result on one side is not silently a tie."""
    with pytest.raises(ValueError, match="leave out those"):
        paired_difference([1.0, float("nan")], [1.0, 0.0], rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="at most n"):
        bonett_price(3, 3, 5)
