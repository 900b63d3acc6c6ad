"""Facts about intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchwright.stats import intervals
from benchwright.stats.intervals import bootstrap_mean, bootstrap_means, effective_units, wilson, wilson_ends


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_follows_its_formula(drawn: tuple[int, int]) -> None:
    """The interval is the closed form of Wilson (1927) with z = 1.96 and holds the share."""
    successes, n = drawn
    z = 1.959963984540054
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = wilson(successes, n)
    assert low == pytest.approx(centre - half, abs=1e-12)
    assert high == pytest.approx(centre + half, abs=1e-12)
    assert low <= share <= high
    assert high > low


def test_bootstrap_agrees_with_the_normal_interval_on_many_problems() -> None:
    """Over a thousand problems the percentile interval is near mean ± 1.96 standard errors."""
    values = np.random.default_rng(1).random(1000)
    low, high = bootstrap_mean(values, rounds=4000, rng=np.random.default_rng(2))
    half = 1.96 * values.std() / math.sqrt(1000)
    assert low == pytest.approx(values.mean() - half, abs=half / 10)
    assert high == pytest.approx(values.mean() + half, abs=half / 10)


def test_the_same_generator_gives_the_same_interval() -> None:
    """An interval depends on its seed alone."""
    values = [0.0, 1.0, 0.5, 0.25]
    first = bootstrap_mean(values, rounds=100, rng=np.random.default_rng(7))
    assert first == bootstrap_mean(values, rounds=100, rng=np.random.default_rng(7))


def test_columns_share_their_resampled_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column that is never below another never gets the lower interval, also when resampled in blocks."""
    monkeypatch.setattr(intervals, "_BLOCK", 500)
    low = np.random.default_rng(3).random(200) / 2
    first, second = bootstrap_means(
        np.column_stack([low, low + 0.1]), rounds=97, rng=np.random.default_rng(4), confidence=0.9
    )
    assert second.low == pytest.approx(first.low + 0.1)
    assert second.high == pytest.approx(first.high + 0.1)


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_wilson_refuses_impossible_counts(successes: int, n: int) -> None:
    """More successes than trials, or no trial, is an error."""
    with pytest.raises(ValueError, match="expected"):
        wilson(successes, n)


def test_bootstrap_refuses_nothing_to_resample() -> None:
    """No problems, no rounds or an odd confidence is an error."""
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="row per problem"):
        bootstrap_mean([], rounds=10, rng=rng)
    with pytest.raises(ValueError, match="one round"):
        bootstrap_mean([1.0], rounds=0, rng=rng)
    with pytest.raises(ValueError, match="confidence"):
        bootstrap_mean([1.0], rounds=10, rng=rng, confidence=1.0)


def test_wilson_is_what_scipy_has() -> None:
    """Many at once, against scipy's one at a time, at another confidence too."""
    right, total = np.array([0, 1, 7, 50, 99, 100, 611]), np.array([10, 10, 9, 100, 100, 100, 1140])
    for confidence in (0.8, 0.95):
        lows, highs = wilson_ends(right, total, confidence)
        for index, (successes, n) in enumerate(zip(right, total, strict=True)):
            theirs = stats.binomtest(int(successes), int(n)).proportion_ci(confidence, method="wilson")
            assert (lows[index], highs[index]) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_few_problems_have_the_width_of_a_t_interval() -> None:
    """Over five values the interval is near mean ± t times the standard error; plain percentiles are far within."""
    values = np.array([-1.2, -0.4, 0.1, 0.5, 1.0])
    low, high = bootstrap_mean(values, rounds=100_000, rng=np.random.default_rng(0), confidence=0.8)
    half = stats.t(4).ppf(0.9) * values.std(ddof=1) / math.sqrt(5)
    assert (low, high) == pytest.approx((-half, half), abs=0.1 * half)


def test_clusters_are_drawn_together() -> None:
    """Twenty problems in four clusters that are alike are as sure as four problems are."""
    values = np.repeat([0.1, 0.4, 0.5, 0.9], 5)
    labels = np.repeat(["a", "b", "c", "d"], 5).tolist()
    together = bootstrap_mean(values, rounds=500, rng=np.random.default_rng(0), clusters=labels)
    assert together == pytest.approx(bootstrap_mean(values[::5], rounds=500, rng=np.random.default_rng(0)))
    with pytest.raises(ValueError, match="a cluster for each of 20"):
        bootstrap_mean(values, rounds=10, rng=np.random.default_rng(0), clusters=["a"])


def test_clusters_of_unequal_size_count_as_fewer() -> None:
    """Equal ones as many as there are; the twelve repositories of SWE-bench Verified as 3.9."""
    assert effective_units(20, None) == 20
    assert effective_units(20, ["a"] * 10 + ["b"] * 10) == 2
    sizes = [231, 75, 44, 34, 32, 22, 22, 19, 10, 8, 2, 1]
    labels = [number for number, size in enumerate(sizes) for _ in range(size)]
    assert effective_units(500, labels) == pytest.approx(3.87, abs=0.01)


def test_one_problem_and_one_cluster_have_no_spread() -> None:
    """Nothing can be resampled; whoever reports it has to say so."""
    assert bootstrap_mean([0.5], rounds=10, rng=np.random.default_rng(0)) == (0.5, 0.5)
    assert bootstrap_mean([0.0, 0.5], rounds=10, rng=np.random.default_rng(0), clusters=["a", "a"]) == (0.25, 0.25)
