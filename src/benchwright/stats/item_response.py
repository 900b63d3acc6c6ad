"""Difficulty and discrimination of problems, and ability of models: the two-parameter logistic model.

A model of ability t solves a problem of difficulty b and discrimination a with the chance 1 / (1 + exp(-a (t - b)))
(Birnbaum, in Lord and Novick, Statistical Theories of Mental Test Scores, 1968).  Abilities are normal with mean 0 and
standard deviation 1, which fixes the scale.  The parameters maximise the marginal likelihood by Bock and Aitkin's EM
algorithm (Psychometrika 46, 1981), its steps lengthened by re-standardising the abilities after each (Liu, Rubin and
Wu, Biometrika 85, 1998), with weak priors so that a problem nobody solves has a finite place.

Unlike in school tests there are many problems and few models.  Below some fifty models the discriminations lean on
their prior, and models that come from one another are not the independent examinees the theory thinks of.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: Places of ability.  A thousand problems fix a model's ability to about 0.06, so the places must be as near as that.
_PLACES = np.linspace(-5.0, 5.0, 161)
#: Discrimination is taken to be 1 ± 1 and the logit of an average model 0 ± 3 before anything is seen.
_PRIOR_SLOPE = (1.0, 1.0)
_PRIOR_LOGIT = (0.0, 3.0)
_ITERATIONS = 500
#: Largest change of any slope or logit in one iteration at which the fit is done.
_SETTLED = 1e-3
#: Below this discrimination a problem has no difficulty, for better models do not solve it more often.
FLATTEST = 0.1

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResponse:
    """A fitted two-parameter model."""

    difficulty: Matrix
    """By problem: the ability at which the chance to solve it is one half; nan where discrimination is below 0.1."""
    discrimination: Matrix
    """By problem: how steeply the chance rises with ability; negative when better models solve it less often."""
    ability: Matrix
    """By model: its expected place, in standard deviations among these models."""
    uncertainty: Matrix
    """By model: standard deviation of that, the problems' parameters taken as known."""
    iterations: int
    converged: bool


def fit_item_response(shares: npt.ArrayLike, *, iterations: int = _ITERATIONS) -> ItemResponse:
    """Fit problems (columns) and models (rows) from shares of right samples, nan where there is no result.

    Fractions count as that part of a success.  Raises `ValueError` for fewer than two models or two problems.
    """
    table = np.asarray(shares, dtype=np.float64)
    if table.ndim != 2 or min(table.shape) < 2:
        raise ValueError(f"expected at least two models (rows) and two problems (columns), got shape {table.shape}")
    right, wrong = np.nan_to_num(table), np.nan_to_num(1.0 - table)
    slope, logit = np.ones(table.shape[1]), _first_logits(right, wrong)
    posterior = _posterior(right, wrong, slope, logit)
    done, change = 0, np.inf
    while done < iterations and change > _SETTLED:
        before_slope, before_logit = slope, logit
        solved, played = posterior.T @ right, posterior.T @ (right + wrong)
        slope, logit = _improved(solved, played, slope, logit)
        mean, sd = _population(posterior)
        slope, logit = slope * sd, logit + slope * mean
        posterior = _posterior(right, wrong, slope, logit)
        change = max(float(np.abs(slope - before_slope).max()), float(np.abs(logit - before_logit).max()))
        done += 1
    ability = posterior @ _PLACES
    steep = slope >= FLATTEST
    return ItemResponse(
        difficulty=np.where(steep, -logit / np.where(steep, slope, 1.0), np.nan),
        discrimination=slope,
        ability=ability,
        uncertainty=np.sqrt(np.maximum(posterior @ _PLACES**2 - ability**2, 0.0)),
        iterations=done,
        converged=change <= _SETTLED,
    )


def _first_logits(right: Matrix, wrong: Matrix) -> Matrix:
    solved, missed = right.sum(axis=0) + 0.5, wrong.sum(axis=0) + 0.5
    return np.asarray(np.log(solved / missed), dtype=np.float64)


def _posterior(right: Matrix, wrong: Matrix, slope: Matrix, logit: Matrix) -> Matrix:
    """Chance of each model (row) being at each place (column), given its results."""
    logits = np.outer(_PLACES, slope) + logit
    # log of the chance to solve and to miss, without overflow on either side
    solve, miss = -np.logaddexp(0.0, -logits), -np.logaddexp(0.0, logits)
    weights = right @ solve.T + wrong @ miss.T - _PLACES**2 / 2
    weights = np.exp(weights - weights.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)


def _population(posterior: Matrix) -> tuple[float, float]:
    """Mean and standard deviation of ability over all models, their uncertainty included."""
    density = posterior.mean(axis=0)
    mean = float(density @ _PLACES)
    return mean, float(np.sqrt(max(density @ _PLACES**2 - mean**2, 1e-6)))


def _improved(solved: Matrix, played: Matrix, slope: Matrix, logit: Matrix) -> tuple[Matrix, Matrix]:
    """Two Newton steps of every problem's logistic regression on the places, priors included."""
    for _ in range(2):
        chance = 1.0 / (1.0 + np.exp(-np.clip(np.outer(_PLACES, slope) + logit, -500, 500)))
        residual, weight = solved - played * chance, played * chance * (1 - chance)
        by_slope = _PLACES @ residual - (slope - _PRIOR_SLOPE[0]) / _PRIOR_SLOPE[1] ** 2
        by_logit = residual.sum(axis=0) - (logit - _PRIOR_LOGIT[0]) / _PRIOR_LOGIT[1] ** 2
        slope_slope = _PLACES**2 @ weight + _PRIOR_SLOPE[1] ** -2
        logit_logit = weight.sum(axis=0) + _PRIOR_LOGIT[1] ** -2
        both = _PLACES @ weight
        determinant = slope_slope * logit_logit - both**2  # positive: the priors see to it
        step_slope = (by_slope * logit_logit - by_logit * both) / determinant
        step_logit = (by_logit * slope_slope - by_slope * both) / determinant
        slope, logit = slope + np.clip(step_slope, -1, 1), logit + np.clip(step_logit, -1, 1)
    return slope, logit
