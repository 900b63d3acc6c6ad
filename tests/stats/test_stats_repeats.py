"""Repeated runs: how much a score moves, where that comes from, and how many runs show a difference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchwright.stats.repeats import (
    VarianceParts,
    consistency,
    runs_needed,
    runs_needed_by_spread,
    spread,
    variance_parts,
)


def coin_runs(chances: np.ndarray, runs: int, rng: np.random.Generator) -> np.ndarray:
    """A row per problem, a column per run; every result drawn by itself."""
    return (rng.random((len(chances), runs)) < chances[:, None]).astype(np.float64)


def test_the_spread_is_that_of_the_runs_scores() -> None:
    """Standard deviation of the means, its chi-square interval, and how many problems change."""
    found = spread(np.array([[1, 1, 0], [0, 1, 0], [1, 1, 1], [0, 0, 0]]) / 8)
    assert found.means == (0.0625, 0.09375, 0.03125)
    assert (found.mean, found.sd, found.changing, found.runs, found.problems) == (0.0625, 0.03125, 2, 3, 4)
    low, high = np.sqrt(2 * 0.03125**2 / stats.chi2(2).ppf([0.975, 0.025]))
    assert (found.low, found.high) == pytest.approx((low, high))


def test_problems_by_themselves_explain_a_plain_spread() -> None:
    """When only single results are chance, both standard deviations agree, and the p-value is even over repetitions."""
    rng = np.random.default_rng(0)
    found = [spread(coin_runs(rng.random(200), 5, rng)) for _ in range(400)]
    assert np.mean([one.sd**2 for one in found]) == pytest.approx(np.mean([one.by_chance**2 for one in found]), rel=0.1)
    assert stats.kstest([one.p_value for one in found], "uniform").pvalue > 0.01


def test_what_moves_whole_runs_is_seen() -> None:
    """A run that is worse on every problem is more than the problems' own chance explains."""
    rng = np.random.default_rng(1)
    chances = rng.random(500) * 0.8 + 0.1
    runs = np.column_stack([coin_runs(chances + shift, 1, rng)[:, 0] for shift in (-0.1, 0.0, 0.0, 0.1)])
    found = spread(runs)
    assert found.p_value < 1e-4
    assert found.sd > 2 * found.by_chance


def test_runs_that_are_all_the_same_have_no_spread() -> None:
    """A model that answers the same each time moves by nothing, and nothing is odd about it."""
    found = spread([[1, 1], [0, 0]])
    assert (found.sd, found.low, found.high, found.by_chance, found.p_value) == (0.0, 0.0, 0.0, 0.0, 1.0)


@given(st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), min_size=1, max_size=5))
def test_a_share_moves_by_at_most_50_points(table: list[list[float]]) -> None:
    """The interval of the standard deviation ends at the largest that numbers between 0 and 1 can have."""
    found = spread(table)
    assert found.low <= found.sd <= found.high <= max(0.5, found.sd)


def test_two_runs_of_a_few_problems_say_how_wide_they_are() -> None:
    """36 points apart is a standard deviation of up to 50 points, not of 227 as a chi-square alone would have it."""
    found = spread([[1.0, 0.0]] * 51 + [[1.0, 1.0]] * 49)
    assert (round(found.sd, 3), round(found.low, 3), found.high) == (0.361, 0.161, 0.5)


def test_runs_that_move_as_a_whole_need_more_of_them() -> None:
    """By what was seen between runs: 2 sd² (1.96 + 0.84)² / 0.02²; by the problems' chance alone it would be 318."""
    assert runs_needed_by_spread(0.02, 0.361) == 5115
    assert runs_needed_by_spread(0.02, 0.09) == 318
    assert runs_needed_by_spread(0.02, 0.0) == 1
    with pytest.raises(ValueError, match="other than 0"):
        runs_needed_by_spread(0.0, 0.1)


def test_both_answers_agree_where_only_chance_moves_runs() -> None:
    """The spread that problems' own chance makes leads to the same number of runs."""
    table = coin_runs(np.full(200, 0.5), 6, np.random.default_rng(7))
    by_chance = runs_needed(0.02, variance_parts(table, table)).on_these
    assert runs_needed_by_spread(0.02, spread(table).by_chance) == by_chance


def test_only_problems_with_a_result_in_every_run_count() -> None:
    """Otherwise runs would differ by which problems they lost."""
    assert spread([[1.0, np.nan], [0.0, 1.0], [1.0, 1.0]]).problems == 2


def test_the_parts_of_the_variance_are_recovered() -> None:
    """From four runs of each of two models of known chances."""
    rng = np.random.default_rng(2)
    first = rng.beta(2, 2, 4000)
    second = np.clip(first + rng.choice([-0.2, 0.2], 4000), 0, 1)
    parts = variance_parts(coin_runs(first, 4, rng), coin_runs(second, 4, rng))
    within = np.mean([first * (1 - first), second * (1 - second)])
    assert (parts.within, parts.between) == pytest.approx((within, np.var(first - second)), rel=0.1)


def test_so_many_runs_show_the_difference_as_often_as_asked() -> None:
    """On just these problems: simulated with the number of runs that the formula gives, four in five show it."""
    rng = np.random.default_rng(4)
    chances = np.clip(rng.beta(2, 2, 300), 0.05, 0.9)
    better = chances + 0.02
    within = float(np.mean([chances * (1 - chances), better * (1 - better)]))
    needed = runs_needed(0.02, VarianceParts(within=within, between=0.0, problems=300)).on_these
    shown = 0
    for _ in range(1000):
        gain = (rng.binomial(needed, better) - rng.binomial(needed, chances)).mean() / needed
        shown += gain > 1.96 * np.sqrt(2 * within / needed / 300)
    assert shown / 1000 == pytest.approx(0.8, abs=0.04)


def test_more_runs_do_not_replace_problems() -> None:
    """What differs between problems stays, however often they are run; the problems needed are named instead."""
    parts = VarianceParts(within=0.1, between=0.2, problems=148)
    found = runs_needed(0.02, parts)
    assert (found.on_these, found.on_such) == (27, None)
    assert found.problems_for_one_run == 7849  # (1.96 + 0.84)² (0.2 + 2 · 0.1) / 0.02²
    enough = runs_needed(0.02, VarianceParts(within=0.1, between=0.2, problems=7849))
    assert (enough.on_these, enough.on_such) == (1, 1)


def test_a_model_without_chance_needs_one_run() -> None:
    """Where single runs do not vary, the first says everything about these problems."""
    assert runs_needed(0.02, VarianceParts(within=0.0, between=0.2, problems=100)).on_these == 1


def test_problems_are_always_sometimes_or_never_solved() -> None:
    """Three counts that add up to all problems."""
    assert consistency([(3, 3), (3, 1), (1, 0), (2, 2)]) == (2, 1, 1)


@pytest.mark.parametrize("table", [[1.0, 0.0], [[1.0]], [[np.nan, 1.0]]])
def test_a_spread_needs_two_runs_and_a_problem(table: object) -> None:
    """One run has no spread, and problems without results say nothing."""
    with pytest.raises(ValueError, match="at least"):
        spread(table)  # type: ignore[arg-type]


def test_parts_and_runs_of_nothing_are_refused() -> None:
    """One run each, one problem, no difference, a power of 1."""
    with pytest.raises(ValueError, match="two runs of each"):
        variance_parts([[1.0], [0.0]], [[1.0], [0.0]])
    with pytest.raises(ValueError, match="two problems"):
        variance_parts([[1.0, 0.0]], [[1.0, 0.0]])
    parts = VarianceParts(within=0.1, between=0.2, problems=148)
    with pytest.raises(ValueError, match="other than 0"):
        runs_needed(0.0, parts)
    with pytest.raises(ValueError, match="power"):
        runs_needed(0.1, parts, power=1.0)
