"""The gap between two kinds of models."""

import numpy as np
import pytest

from benchwright.stats.gaps import Gap, gap
from benchwright.stats.paired import paired_difference


def found(a: object, b: object) -> Gap:
    """The gap with a fixed random generator."""
    return gap(a, b, rng=np.random.default_rng(0))  # type: ignore[arg-type]


def simulated(chances: list[float], problems: int = 400, seed: int = 0) -> np.ndarray:
    """A row of results per chance."""
    rng = np.random.default_rng(seed)
    return (rng.random((len(chances), problems)) < np.array(chances)[:, None]).astype(np.float64)


def test_the_best_of_both_are_compared_problem_by_problem() -> None:
    """Which two they are, their paired difference, and how surely one is ahead."""
    a, b = simulated([0.2, 0.7, 0.5]), simulated([0.1, 0.5], seed=1)
    result = found(a, b)
    assert (result.best_a, result.best_b) == (1, 1)
    assert result.paired == paired_difference(a[1], b[1], rng=np.random.default_rng(0))
    assert result.paired.shown
    assert result.a_ahead > 0.99
    assert result.mean_difference == pytest.approx(a.mean() - b.mean())
    assert found(b, a).a_ahead == pytest.approx(1 - result.a_ahead)


def test_equal_models_are_ahead_in_half_of_the_rounds() -> None:
    """Draws count half; a group against itself has no gap."""
    a = simulated([0.4, 0.5])
    assert (found(a, a).a_ahead, found(a, a).paired.difference) == (0.5, 0.0)


def test_only_problems_that_all_models_have_count() -> None:
    """A missing result of one model takes the problem out for all."""
    a, b = np.array([[1.0, np.nan, 1.0, 0.0]]), np.array([[0.0, 1.0, 1.0, np.nan]])
    result = found(a, b)
    assert (result.paired.n, result.paired.difference) == (2, 0.5)


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([[1.0]], [[1.0, 0.0]], "on the same problems"),
        ([[1.0]], np.zeros((0, 1)), "on the same problems"),
        ([[np.nan, 1.0]], [[1.0, np.nan]], "at least one problem"),
    ],
)
def test_groups_that_cannot_be_compared_are_refused(a: object, b: object, words: str) -> None:
    """Other problems, nobody in a group, nothing in common."""
    with pytest.raises(ValueError, match=words):
        found(a, b)
