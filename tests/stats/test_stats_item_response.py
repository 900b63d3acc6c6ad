"""The two-parameter model: it finds what made the results, and stays finite where results say nothing."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy import optimize

from benchwright.stats.item_response import fit_item_response

Matrix = npt.NDArray[np.float64]


def simulated(models: int, problems: int, seed: int = 0) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Abilities (mean 0, standard deviation 1), difficulties, discriminations, and who solves what."""
    rng = np.random.default_rng(seed)
    abilities = rng.normal(size=models)
    abilities = (abilities - abilities.mean()) / abilities.std()
    difficulties, slopes = rng.normal(0, 1.2, problems), rng.lognormal(0.1, 0.35, problems)
    chances = 1 / (1 + np.exp(-slopes * (abilities[:, None] - difficulties)))
    return abilities, difficulties, slopes, (rng.random((models, problems)) < chances).astype(np.float64)


def test_known_parameters_are_recovered() -> None:
    """Of 400 models on 300 problems: as near as the standard errors of so many results are."""
    abilities, difficulties, slopes, shares = simulated(400, 300)
    found = fit_item_response(shares)
    assert found.converged
    middle = np.abs(difficulties) < 1.5
    assert np.sqrt(np.mean((found.difficulty - difficulties)[middle] ** 2)) < 0.17
    assert np.sqrt(np.mean((found.discrimination - slopes) ** 2)) < 0.2
    assert np.sqrt(np.mean((found.ability - abilities) ** 2)) < 0.15
    assert found.discrimination.mean() == pytest.approx(slopes.mean(), abs=0.05)
    assert np.mean(np.abs(found.ability - abilities) < 1.96 * found.uncertainty) == pytest.approx(0.95, abs=0.03)


def test_the_fit_is_a_maximum_of_the_marginal_likelihood() -> None:
    """On four problems, where integrals over ability can be taken one by one, no other parameters are better."""
    _, _, _, shares = simulated(300, 4, seed=1)
    found = fit_item_response(shares)

    def loss(parameters: Matrix) -> float:
        slopes, logits = parameters[:4], parameters[4:]
        places, weights = np.polynomial.hermite_e.hermegauss(60)
        chances = 1 / (1 + np.exp(-(np.outer(places, slopes) + logits)))
        likely = np.exp(shares @ np.log(chances).T + (1 - shares) @ np.log1p(-chances).T) @ (weights / weights.sum())
        return float(((slopes - 1) ** 2).sum() / 2 + (logits**2).sum() / 18 - np.log(likely).sum())

    ours = np.concatenate([found.discrimination, -found.difficulty * found.discrimination])
    best = optimize.minimize(loss, ours, method="BFGS")
    assert loss(ours) == pytest.approx(best.fun, abs=0.05)
    assert ours == pytest.approx(best.x, abs=0.1)


def test_problems_that_nobody_or_everybody_solves_have_a_finite_place() -> None:
    """Far out, beyond every model, but nothing becomes infinite."""
    _, _, _, shares = simulated(60, 30)
    shares[:, 0], shares[:, 1] = 0.0, 1.0
    found = fit_item_response(shares)
    assert np.isfinite(found.difficulty).all()
    assert 20 > found.difficulty[0] > found.ability.max() + 2
    assert -20 < found.difficulty[1] < found.ability.min() - 2


def test_a_problem_that_better_models_miss_has_a_negative_slope_and_no_difficulty() -> None:
    """It is not taken for an easy one."""
    abilities, _, _, shares = simulated(100, 40)
    shares[:, 0] = abilities < 0
    found = fit_item_response(shares)
    assert found.discrimination[0] < -1
    assert np.isnan(found.difficulty[0])


def test_problems_without_a_result_say_nothing() -> None:
    """Half of the results left out: the same abilities within what half the problems tell."""
    _, _, _, shares = simulated(80, 200)
    part = shares.copy()
    part[np.random.default_rng(5).random(shares.shape) < 0.5] = np.nan
    whole, half = fit_item_response(shares), fit_item_response(part)
    assert np.corrcoef(whole.ability, half.ability)[0, 1] > 0.97
    assert half.uncertainty.mean() == pytest.approx(whole.uncertainty.mean() * 2**0.5, rel=0.15)


def test_a_fit_that_was_not_given_the_time_says_so() -> None:
    """One iteration does not settle."""
    found = fit_item_response(simulated(40, 20)[3], iterations=1)
    assert (found.iterations, found.converged) == (1, False)


@pytest.mark.parametrize("shares", [[1.0, 0.0], [[1.0, 0.0]], [[1.0], [0.0]]])
def test_one_model_or_one_problem_cannot_be_fitted(shares: npt.ArrayLike) -> None:
    """Ability and difficulty are told apart only by several of both."""
    with pytest.raises(ValueError, match="two models"):
        fit_item_response(shares)
