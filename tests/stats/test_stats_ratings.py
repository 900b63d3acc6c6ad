"""Ratings: what they recover, what the two tie rules mean, and what happens at every edge."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from benchwright.stats.intervals import draws
from benchwright.stats.ratings import Anchor, Rating, Ratings, Ties, rate

Matrix = npt.NDArray[np.float64]


def simulated(models: int, problems: int, seed: int = 0) -> tuple[Matrix, Matrix]:
    """Abilities in rising order, and who solves what: a logistic in ability less difficulty."""
    rng = np.random.default_rng(seed)
    abilities, difficulties = np.sort(rng.normal(0, 1.2, models)), rng.normal(0.5, 2.0, problems)
    chances = 1 / (1 + np.exp(difficulties - abilities[:, None]))
    return abilities, (rng.random((models, problems)) < chances).astype(np.float64)


def rated(shares: npt.ArrayLike, rounds: int = 20, **options: object) -> Ratings:
    """Ratings of models named m0, m1, … by row."""
    names = [f"m{index}" for index in range(len(np.asarray(shares)))]
    return rate(names, shares, rng=np.random.default_rng(0), rounds=rounds, **options)  # type: ignore[arg-type]


def by_model(ratings: Ratings) -> dict[str, Rating]:
    """Rows by name."""
    return {row.model: row for row in ratings.rows}


def public_script(shares: Matrix) -> Matrix:
    """Ratings as BigCodeBench's leaderboard makes them in each round: a logistic regression over every match that is no
    tie, without intercept, features ± ln 10, penalty |w|²/2 at weight 1, 400 w + 1000."""
    winners, losers = [], []
    for column in shares.T:
        for a in range(len(shares)):
            for b in range(len(shares)):
                if column[a] > column[b]:
                    winners.append(a)
                    losers.append(b)

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        margins = math.log(10) * (weights[winners] - weights[losers])
        pull = math.log(10) / (1 + np.exp(margins))
        gradient = weights - np.bincount(winners, pull, len(shares)) + np.bincount(losers, pull, len(shares))
        return float(np.logaddexp(0, -margins).sum() + weights @ weights / 2), gradient

    found = optimize.minimize(loss, np.zeros(len(shares)), jac=True, method="L-BFGS-B", options={"ftol": 1e-14})
    return np.asarray(400 * found.x + 1000, dtype=np.float64)


def test_dropping_ties_gives_the_numbers_of_the_public_leaderboards_script() -> None:
    """They differ by the script's penalty and by our drawn match alone: hardly at all with 600 problems."""
    _, shares = simulated(12, 600)
    found = by_model(rated(shares, ties=Ties.DROP))
    ours = [found[f"m{index}"].rating for index in range(12)]
    assert ours == pytest.approx(public_script(shares).tolist(), abs=0.05)
    assert np.mean(ours) == pytest.approx(1000.0)


def test_known_strengths_are_recovered() -> None:
    """Matches won with the chances of five strengths give those back, with intervals that hold them."""
    strengths = np.array([900.0, 950.0, 1000.0, 1050.0, 1100.0])
    rng = np.random.default_rng(3)
    # Of each problem two models differ; which of the two solves it is drawn by their strengths.
    rows = []
    for _ in range(6000):
        a, b = rng.choice(5, size=2, replace=False)
        won = rng.random() < 1 / (1 + 10 ** ((strengths[b] - strengths[a]) / 400))
        column = np.full(5, np.nan)
        column[a], column[b] = won, not won
        rows.append(column)
    found = by_model(rated(np.array(rows).T, rounds=500, ties=Ties.DROP, confidence=0.99))
    assert [found[f"m{index}"].rating for index in range(5)] == pytest.approx(strengths.tolist(), abs=20)
    assert all(found[f"m{index}"].low < strengths[index] < found[f"m{index}"].high for index in range(5))


def test_ratings_follow_ability() -> None:
    """Forty models of known ability come out in nearly their order under both rules."""
    abilities, shares = simulated(40, 500)
    for ties in Ties:
        found = by_model(rated(shares, ties=ties))
        assert stats.spearmanr(abilities, [found[f"m{index}"].rating for index in range(40)]).statistic > 0.97


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 7), st.integers(1, 30), st.integers(0, 2**32 - 1), st.sampled_from([1, 3]))
def test_with_half_ties_the_order_is_that_of_what_is_solved(
    models: int, problems: int, seed: int, samples: int
) -> None:
    """Among models with the same problems, more solved is a higher rating, the same is the same rating and rank."""
    shares = np.random.default_rng(seed).integers(0, samples + 1, size=(models, problems)) / samples
    found = by_model(rated(shares, rounds=1))
    solved = np.round(shares.sum(axis=1) * samples)
    for a in range(models):
        for b in range(models):
            first, second = found[f"m{a}"], found[f"m{b}"]
            assert (solved[a] > solved[b]) == (first.rating > second.rating + 1e-6)
            assert (solved[a] == solved[b]) == (first.rank == second.rank)


def test_several_samples_count_as_fractions_of_matches() -> None:
    """Shares of 1/2 and 1/4: of pairs of samples 3/8 are won, 1/8 lost, half tied."""
    shares = np.full((2, 10_000), 0.5)
    shares[1] = 0.25
    found = by_model(rated(shares, rounds=1, ties=Ties.DROP))
    assert found["m0"].rating - found["m1"].rating == pytest.approx(400 * math.log10(3), abs=0.2)
    half = by_model(rated(shares, rounds=1, ties=Ties.HALF))
    assert half["m0"].rating - half["m1"].rating == pytest.approx(400 * math.log10(0.625 / 0.375), abs=0.2)


def test_ranks_have_ranges_that_hold_them() -> None:
    """Models far apart have one rank, models that nearly tie share a range."""
    rng = np.random.default_rng(1)
    chances = np.array([0.9, 0.52, 0.5, 0.48, 0.1])
    found = rated((rng.random((5, 400)) < chances[:, None]).astype(np.float64), rounds=300)
    ranges = {row.model: (row.rank_low, row.rank_high) for row in found.rows}
    assert (ranges["m0"], ranges["m4"]) == ((1, 1), (5, 5))
    assert ranges["m1"] == ranges["m2"] == ranges["m3"] == (2, 4)
    assert [row.rank for row in found.rows] == [1, 2, 3, 4, 5]
    assert all(row.low < row.median < row.high and row.rank_low <= row.rank <= row.rank_high for row in found.rows)


def test_the_anchor_fixes_the_scale() -> None:
    """The mean of the models is at 1000, or a named model at its value, without width; differences stay the same."""
    _, shares = simulated(5, 200)
    free = by_model(rated(shares))
    fixed = by_model(rated(shares, anchor=Anchor(model="m2", value=1200.0)))
    assert np.mean([row.rating for row in free.values()]) == pytest.approx(1000.0)
    assert (fixed["m2"].rating, fixed["m2"].low, fixed["m2"].high) == pytest.approx((1200.0, 1200.0, 1200.0))
    assert fixed["m4"].rating - 1200 == pytest.approx(free["m4"].rating - free["m2"].rating)


@pytest.mark.parametrize("ties", list(Ties))
def test_models_that_solve_all_or_nothing_have_finite_ratings(ties: Ties) -> None:
    """They are held by the drawn match alone, where ties do not hold them, and are flagged."""
    _, shares = simulated(6, 100)
    shares[0], shares[5] = 0.0, 1.0
    found = by_model(rated(shares, ties=ties))
    assert all(math.isfinite(value) for row in found.values() for value in (row.rating, row.low, row.high, row.median))
    assert (found["m5"].rank, found["m0"].rank) == (1, 6)
    assert [found[name].held for name in ("m0", "m3", "m5")] == [ties is Ties.DROP, False, ties is Ties.DROP]


@pytest.mark.parametrize("shares", [np.zeros((4, 9)), np.ones((4, 9)), np.tile([0.0, 1.0, 0.5], (4, 3))])
@pytest.mark.parametrize("ties", list(Ties))
def test_models_that_are_all_equal_share_the_first_rank(shares: Matrix, ties: Ties) -> None:
    """Nobody passing, everybody passing, or all the same: everybody at the anchor, ranks 1 to 4 open."""
    for row in rated(shares, ties=ties).rows:
        assert (row.rating, row.rank, row.rank_low, row.rank_high) == (pytest.approx(1000.0), 1, 1, 4)


def test_one_model_alone_is_at_the_anchor() -> None:
    """There is nobody to be compared with."""
    (row,) = rated([[1.0, 0.0]]).rows
    assert (row.rating, row.low, row.high, row.rank, row.rank_low, row.rank_high) == (1000.0, 1000.0, 1000.0, 1, 1, 1)


def test_models_that_met_nobody_stand_in_a_group_of_their_own() -> None:
    """Groups without a common problem have scales and ranks of their own; a model without results is one too."""
    shares = np.full((6, 8), np.nan)
    shares[:3, :4] = [[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0]]
    shares[3:5, 4:] = [[1, 0, 0, 0], [1, 1, 1, 0]]
    found = rated(shares)
    assert found.groups == (("m0", "m1", "m2"), ("m3", "m4"), ("m5",))
    rows = by_model(found)
    assert [rows[f"m{index}"].rank for index in range(6)] == [1, 3, 2, 2, 1, 1]
    assert [rows[f"m{index}"].group for index in range(6)] == [0, 0, 0, 1, 1, 2]
    assert (rows["m3"].rating + rows["m4"].rating) / 2 == pytest.approx(1000.0)
    assert (rows["m5"].played, rows["m5"].rating) == (0, 1000.0)


def test_problems_that_were_not_given_are_no_losses() -> None:
    """A model with half of the problems is rated by those, against the models that had them too."""
    _, shares = simulated(5, 400)
    part = shares.copy()
    part[4, 200:] = np.nan
    whole, half = by_model(rated(shares)), by_model(rated(part))
    assert half["m4"].played == 200
    assert half["m4"].rating == pytest.approx(whole["m4"].rating, abs=30)
    assert half["m4"].rank == 1


@pytest.mark.parametrize("ties", list(Ties))
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("samples", [1, 4])
def test_a_round_is_a_rating_of_the_problems_drawn(ties: Ties, missing: float, samples: int) -> None:
    """Made in another way, it is what rating a benchmark gives that has each problem as often as it was drawn."""
    rng = np.random.default_rng(7)
    shares = rng.integers(0, samples + 1, (6, 80)) / samples
    shares[rng.random(shares.shape) < missing] = np.nan
    times = draws(80, 1, np.random.default_rng(0))[0].astype(int)
    assert times.sum() == 80
    drawn = np.repeat(shares, times, axis=1)
    round_by_round, at_once = by_model(rated(shares, rounds=1, ties=ties)), by_model(rated(drawn, rounds=1, ties=ties))
    assert [round_by_round[f"m{index}"].median for index in range(6)] == pytest.approx(
        [at_once[f"m{index}"].rating for index in range(6)], abs=1e-3
    )


def test_the_same_generator_gives_the_same_ratings_and_the_method_says_how() -> None:
    """Everything that a reader needs to make them again is in the words or the fields."""
    _, shares = simulated(4, 50)
    first, again = rated(shares, ties=Ties.DROP), rated(shares, ties=Ties.DROP)
    assert first == again
    assert "left out" in first.method
    assert "mean of the models at 1000" in first.method
    assert "20 rounds" in first.method
    assert "half a win" in rated(shares, anchor=Anchor(model="m1")).method


@pytest.mark.parametrize(
    ("shares", "options", "words"),
    [
        ([[1.0], [2.0]], {}, "between 0 and 1"),
        ([1.0, 0.0], {}, "a row per model"),
        ([[], []], {}, "a row per model"),
        ([[1.0], [0.0]], {"anchor": Anchor(model="nobody")}, "one of the models, got 'nobody'"),
        ([[1.0], [0.0]], {"rounds": 0}, "one round"),
        ([[1.0], [0.0]], {"confidence": 1.0}, "confidence"),
    ],
)
def test_what_does_not_fit_together_is_refused(shares: object, options: dict[str, object], words: str) -> None:
    """Shares that are none, an anchor that is not there, rounds and confidences that mean nothing."""
    with pytest.raises(ValueError, match=words):
        rated(shares, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="different name"):
        rate(["a", "a"], [[1.0], [0.0]], rng=np.random.default_rng(0))
