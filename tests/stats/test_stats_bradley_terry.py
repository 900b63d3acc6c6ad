"""Strengths against references of our own, and at the edges where the library alone would stop too early."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from benchwright.stats.bradley_terry import Nearby, held_by_prior, meeting_groups, strengths

Matrix = npt.NDArray[np.float64]


def with_the_drawn_match(wins: Matrix) -> Matrix:
    """What the likelihood is of: the wins, and each model's one drawn match, shared among the others."""
    counts = wins + 0.5 / (len(wins) - 1)
    np.fill_diagonal(counts, 0.0)
    return counts


def reference(counts: Matrix) -> Matrix:
    """The maximum of Bradley and Terry's likelihood as a general optimiser finds it."""

    def loss(logs: Matrix) -> float:
        return float((counts * np.logaddexp(0.0, logs[None, :] - logs[:, None])).sum() + logs.mean() ** 2)

    def slope(logs: Matrix) -> Matrix:
        beaten = counts / (1.0 + np.exp(logs[:, None] - logs[None, :]))
        return np.asarray(beaten.sum(axis=0) - beaten.sum(axis=1) + 2 * logs.mean() / len(logs), dtype=np.float64)

    found = optimize.minimize(loss, np.zeros(len(counts)), jac=slope, method="BFGS", options={"gtol": 1e-7})
    return np.asarray(found.x - found.x.mean(), dtype=np.float64)


def test_baseball_as_agresti_has_it() -> None:
    """Wins of seven baseball teams give the strengths of Agresti's Categorical Data Analysis (2nd ed., 10.6)."""
    teams = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
    wins = np.array(
        [
            [0, 7, 9, 7, 7, 9, 11],
            [6, 0, 7, 5, 11, 9, 9],
            [4, 6, 0, 7, 7, 8, 12],
            [6, 8, 6, 0, 6, 7, 10],
            [6, 2, 6, 7, 0, 7, 12],
            [4, 4, 5, 6, 6, 0, 6],
            [2, 4, 1, 3, 1, 7, 0],
        ],
        dtype=np.float64,
    )
    published = [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0.0]
    found = strengths(wins * 1000) - strengths(wins * 1000)[-1]  # a thousand seasons: the drawn match weighs nothing
    assert dict(zip(teams, found, strict=True)) == pytest.approx(dict(zip(teams, published, strict=True)), abs=0.006)


@settings(max_examples=40, deadline=None)  # the first call imports evalica
@given(st.integers(2, 6).flatmap(lambda m: st.lists(st.integers(0, 30), min_size=m * m, max_size=m * m)))
def test_strengths_are_where_a_general_optimiser_finds_the_maximum(cells: list[int]) -> None:
    """Whatever the wins, also none at all or all on one side, library and reference agree."""
    models = int(len(cells) ** 0.5)
    wins = np.array(cells, dtype=np.float64).reshape(models, models)
    np.fill_diagonal(wins, 0.0)
    assert strengths(wins) == pytest.approx(reference(with_the_drawn_match(wins)), abs=2e-4)


def test_wins_are_what_the_strengths_predict() -> None:
    """At the maximum every model has won as often as its strength says, to a millionth of a win."""
    rng = np.random.default_rng(5)
    wins = rng.integers(0, 500, size=(30, 30)).astype(np.float64)
    np.fill_diagonal(wins, 0.0)
    counts, logs = with_the_drawn_match(wins), strengths(wins)
    chances = 1 / (1 + np.exp(logs[None, :] - logs[:, None]))
    assert counts.sum(axis=1) == pytest.approx(((counts + counts.T) * chances).sum(axis=1), abs=1e-4)


@pytest.mark.parametrize("link", [0, 1])
def test_two_sets_of_models_that_hardly_met_are_still_at_the_maximum(link: int) -> None:
    """Here the library's own steps become small long before the maximum; what it leaves is made up for."""
    wins = np.zeros((20, 20))
    wins[:10, :10] = wins[10:, 10:] = wins[:10, 10:] = 500.0
    if link:
        wins[:10, 10:] = 0.0
        wins[0, 10] = 1.0
    np.fill_diagonal(wins, 0.0)
    counts, logs = with_the_drawn_match(wins), strengths(wins)
    chances = 1 / (1 + np.exp(logs[None, :] - logs[:, None]))
    assert counts[:10].sum() == pytest.approx(((counts + counts.T) * chances)[:10].sum(), abs=1e-4)
    assert logs[:10].min() > logs[10:].max()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.sampled_from([0.0, 0.3, 1.0]))
def test_from_nearby_results_the_same_strengths_are_found(seed: int, models: int, met: float) -> None:
    """However much the results of a round differ from all, and whether or not its models met."""
    rng = np.random.default_rng(seed)
    first, second = (rng.integers(0, 300, (models, models)) * (rng.random((models, models)) < met) for _ in range(2))
    np.fill_diagonal(first, 0)
    np.fill_diagonal(second, 0)
    near = Nearby(first.astype(np.float64))
    assert near.logs == pytest.approx(strengths(first.astype(np.float64)), abs=1e-9)
    found = near.strengths(second.sum(axis=1).astype(np.float64), (second + second.T).astype(np.float64))
    assert found - found.mean() == pytest.approx(strengths(second.astype(np.float64)), abs=1e-4)


@pytest.mark.parametrize(("models", "times"), [(30, 1), (150, 1140), (250, 1140)])
def test_models_none_of_which_ever_loses_to_a_later_one_are_in_that_order(models: int, times: int) -> None:
    """Also where strengths are hundreds of orders of magnitude apart and the library's are no numbers any more."""
    logs = strengths(np.triu(np.full((models, models), float(times)), 1))
    assert np.isfinite(logs).all()
    assert (np.diff(logs) < 0).all()
    assert logs == pytest.approx(-logs[::-1], rel=1e-3, abs=1e-6)


def test_one_model_and_models_without_a_match_are_average() -> None:
    """Nothing seen means no difference."""
    assert strengths(np.zeros((1, 1))).tolist() == [0.0]
    assert strengths(np.zeros((4, 4))) == pytest.approx(np.zeros(4))


def test_groups_are_those_connected_by_common_problems() -> None:
    """Also by way of others; a model without a result stands alone, and the largest group comes first."""
    played = np.array([[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1]], dtype=np.bool_)
    assert meeting_groups(played) == [[2, 3, 4], [0], [1]]


def test_held_are_those_outside_the_largest_circle_of_wins() -> None:
    """A model that never wins, or never loses, has no finite strength by its results alone; the others do."""
    wins = np.array([[0, 3, 2, 5], [0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0]], dtype=np.float64)
    assert held_by_prior(wins).tolist() == [True, False, False, True]
    assert held_by_prior(np.zeros((1, 1))).tolist() == [False]


def test_all_are_held_where_no_two_beat_each_other() -> None:
    """Models in one strict order, or that never met without a tie, have no finite strength by their results alone."""
    assert held_by_prior(np.triu(np.ones((3, 3)), 1)).tolist() == [True] * 3
    assert held_by_prior(np.zeros((2, 2))).tolist() == [True] * 2
