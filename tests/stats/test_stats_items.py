"""What many models' results say about single problems."""

import numpy as np
import numpy.typing as npt
import pytest

from benchwright.stats.items import RULES, Item, Items, items

Matrix = npt.NDArray[np.float64]


def simulated(models: int = 40, problems: int = 60, seed: int = 0) -> Matrix:
    """Results of models from weak to strong."""
    rng = np.random.default_rng(seed)
    abilities, difficulties = np.linspace(-2, 2, models), rng.normal(0, 1, problems)
    chances = 1 / (1 + np.exp(-1.7 * (abilities[:, None] - difficulties)))
    return (rng.random((models, problems)) < chances).astype(np.float64)


def judged(shares: npt.ArrayLike, *, fit: bool = False) -> Items:
    """Problems named p0, p1, …"""
    return items(shares, [f"p{index}" for index in range(np.asarray(shares).shape[1])], fit=fit)


def row(found: Items, name: str) -> Item:
    """One problem of them."""
    return next(one for one in found.rows if one.problem == name)


def test_correlations_are_with_all_other_problems() -> None:
    """Each column against the mean of the others, as numpy has it, also where results are missing."""
    shares = simulated(30, 12)
    shares[np.random.default_rng(1).random(shares.shape) < 0.1] = np.nan
    found = judged(shares)
    for index, one in enumerate(found.rows):
        rest = np.nanmean(np.delete(shares, index, axis=1), axis=1)
        use = ~np.isnan(shares[:, index])
        assert one.correlation == pytest.approx(np.corrcoef(shares[use, index], rest[use])[0, 1])
        assert one.share == pytest.approx(np.nanmean(shares[:, index]))
        assert one.played == use.sum()


def test_problems_that_none_or_all_solve_are_named_and_have_no_correlation() -> None:
    """A problem without a single result is in neither list."""
    shares = simulated()
    shares[:, 0], shares[:, 1], shares[:, 2] = 0.0, 1.0, np.nan
    shares[3, 0] = np.nan
    found = judged(shares, fit=True)
    assert ("p0" in found.unsolved, "p1" in found.always) == (True, True)
    assert not {"p2"} & {*found.unsolved, *found.always}
    nothing = row(found, "p2")
    assert (nothing.played, nothing.share, nothing.correlation, nothing.difficulty) == (0, None, None, None)
    assert (row(found, "p0").correlation, row(found, "p0").against, row(found, "p0").suspect) == (None, None, ())
    assert found.converged is True


def test_a_problem_that_weak_models_solve_and_strong_ones_miss_breaks_every_rule() -> None:
    """It is the first suspect; ordinary problems are none."""
    shares = simulated()
    assert judged(shares).suspects == ()
    shares[:, 7] = [1.0] * 26 + [0.0] * 14
    shares[:, 8] = [1.0] * 14 + [0.0] * 26
    found = judged(shares)
    assert set(found.suspects) == {"p7", "p8"}
    assert row(found, "p7").suspect == ("against-ranking", "best-miss")
    assert row(found, "p8").suspect == ("against-ranking", "worst-solve")
    assert (row(found, "p7").top, row(found, "p7").bottom) == (0.0, 1.0)
    assert {name for one in found.rows for name in one.suspect} == set(RULES)
    lowest = row(found, found.suspects[0]).correlation
    assert lowest == min(one.correlation for one in found.rows if one.correlation is not None)


def test_one_standard_error_below_zero_makes_a_problem_suspect() -> None:
    """Of problems drawn without regard to the models about one in six is, and most of the others are not."""
    shares = np.hstack([simulated(problems=400), np.random.default_rng(2).integers(0, 2, (40, 400)).astype(float)])
    found = judged(shares)
    drawn = [one for one in found.rows[400:] if "against-ranking" in one.suspect]
    assert len(drawn) / 400 == pytest.approx(0.16, abs=0.05)
    assert all(one.against is not None and one.against < 0.16 for one in drawn)
    assert not [one for one in found.rows[:400] if one.suspect]


def test_few_models_call_nothing_suspect() -> None:
    """With seven a correlation is noise, with fewer than twenty the best are too few to miss anything."""
    shares = simulated(7)
    shares[:, 0] = [1, 1, 1, 1, 0, 0, 0]
    found = judged(shares, fit=True)
    assert (found.suspects, found.converged, found.models) == ((), None, 7)
    assert (row(found, "p0").top, row(found, "p0").difficulty) == (None, None)
    some = simulated(16)
    some[:, 0] = [1.0] * 12 + [0.0] * 4
    assert row(judged(some), "p0").suspect == ("against-ranking",)


def test_difficulty_and_discrimination_are_those_of_the_fit() -> None:
    """Harder problems, by how many solve them, are further up."""
    found = judged(simulated(200, 50), fit=True)
    order = sorted(found.rows, key=lambda one: one.share or 0.0)
    assert order[0].difficulty is not None
    assert order[-1].difficulty is not None
    assert order[0].difficulty > 1 > -1 > order[-1].difficulty
    assert all(one.discrimination is not None and one.discrimination > 0.5 for one in found.rows)


@pytest.mark.parametrize("models", [1, 2])
def test_a_single_model_has_shares_and_nothing_else(models: int) -> None:
    """One or two models say what they solve, and nothing of the problems."""
    found = judged(np.ones((models, 3)), fit=True)
    assert found.always == ("p0", "p1", "p2")
    assert all(one.correlation is one.difficulty is one.top is None for one in found.rows)


def test_columns_and_problems_belong_together() -> None:
    """One id for each column."""
    with pytest.raises(ValueError, match="a column for each of 1"):
        items([[1.0, 0.0]], ["p"])
