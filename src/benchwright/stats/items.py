"""What results of many models say about single problems: which are hard, which tell models apart, which are suspect."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from benchwright.stats.item_response import ItemResponse, fit_item_response

#: With fewer models the correlation of one problem with all others is noise, and nothing is called suspect.
FEWEST_MODELS = 8
#: The best and the worst models are a quarter of all, but at most ten.  The rules about them want five at least: of
#: problems that every model solves with a chance of one half, five miss 3 % and ten 0.1 %.
_MOST_AT_AN_END = 10
_FEWEST_AT_AN_END = 5
#: One-sided chance below which a negative correlation makes a problem suspect: one standard error.  Ordinary problems
#: have correlations far above 0, so few of them get there by chance; and reading one too many costs little.
_SUSPECT = 0.16

RULES = {
    "against-ranking": (
        "whether a model solves it correlates negatively with how much the model solves of all other problems, by more "
        "than one standard error (one-sided p < 0.16 by Fisher's z: of problems that say nothing about models, one in "
        "six gets here by chance)"
    ),
    "best-miss": (
        "none of the best models (by all other problems; a quarter of the models, from 5 to 10) ever solves it, though "
        "the others solve it more often than not"
    ),
    "worst-solve": ("all of the worst models (as many) always solve it, though the others miss it more often than not"),
}
"""By its name, when a problem is suspect.  A suspect problem is one to read again, not one shown to be wrong."""

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One problem in the light of all models' results."""

    problem: str
    played: int
    """Models that have a result."""
    share: float | None
    """Mean of their shares of right samples; None without a model."""
    correlation: float | None
    """Item-rest correlation: of its results with the models' means over all other problems.  None when all models came
    to the same, or when there are fewer than three."""
    against: float | None
    """One-sided chance of a correlation this low if there were none; 0.16 is one standard error."""
    top: float | None
    """Mean of the best models by all other problems, a quarter but at most 10; None with fewer than 8 models."""
    bottom: float | None
    """Mean of the worst models, as many."""
    difficulty: float | None
    """Of the two-parameter model: ability at which half the samples are right.  None where it was not fitted."""
    discrimination: float | None
    """Of the two-parameter model."""
    suspect: tuple[str, ...]
    """Names of the rules of `RULES` that it breaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """All problems, in the order given."""

    rows: tuple[Item, ...]
    models: int
    unsolved: tuple[str, ...]
    """Problems no model with a result ever solved."""
    always: tuple[str, ...]
    """Problems every model always solved."""
    suspects: tuple[str, ...]
    """Problems that break a rule, lowest correlation first."""
    converged: bool | None
    """Whether the two-parameter model settled; None when it was not fitted."""


def items(shares: npt.ArrayLike, problems: Sequence[str], *, fit: bool = True) -> Items:
    """Judge every problem by the results of all models.

    Args:
        shares: A row per model and a column per problem: share of right samples, nan where there is no result.
        problems: Ids of the problems, in the order of the columns.
        fit: Whether to fit the two-parameter model too, which needs at least 8 models.
    """
    table = np.asarray(shares, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(problems) or table.size == 0:
        raise ValueError(f"expected a column for each of {len(problems)} problems, got shape {table.shape}")
    response = fit_item_response(table) if fit and len(table) >= FEWEST_MODELS and len(problems) > 1 else None
    rows = _rows(table, problems, response)
    suspects = sorted((row for row in rows if row.suspect), key=lambda row: (row.correlation or 0.0, row.problem))
    return Items(
        rows=rows,
        models=len(table),
        unsolved=tuple(row.problem for row in rows if row.share == 0.0),
        always=tuple(row.problem for row in rows if row.share == 1.0),
        suspects=tuple(row.problem for row in suspects),
        converged=response.converged if response else None,
    )


def _rows(table: Matrix, problems: Sequence[str], response: ItemResponse | None) -> tuple[Item, ...]:
    played = (~np.isnan(table)).sum(axis=0)
    rest = _rest(table)
    correlations = _correlations(table, rest)
    chances = _chance_of_correlation(correlations, played)
    enough = played >= FEWEST_MODELS
    ends = _Ends.of(table, rest)
    means = np.nansum(table, axis=0) / np.maximum(played, 1)
    broken = np.stack([enough & (chances < _SUSPECT), *ends.unlikely()])
    return tuple(
        Item(
            problem=problem,
            played=int(played[one]),
            share=float(means[one]) if played[one] else None,
            correlation=_or_none(correlations[one]),
            against=None if np.isnan(correlations[one]) else float(chances[one]),
            top=_or_none(ends.top[one]) if enough[one] else None,
            bottom=_or_none(ends.bottom[one]) if enough[one] else None,
            difficulty=_or_none(response.difficulty[one]) if response and played[one] else None,
            discrimination=float(response.discrimination[one]) if response and played[one] else None,
            suspect=tuple(name for name, breaks in zip(RULES, broken[:, one], strict=True) if breaks),
        )
        for one, problem in enumerate(problems)
    )


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _rest(table: Matrix) -> Matrix:
    """Mean of each model over all problems but the one of the column; nan where it has no result on either."""
    counts = (~np.isnan(table)).sum(axis=1, keepdims=True) - 1
    sums = np.nansum(table, axis=1, keepdims=True) - table
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan), dtype=np.float64)


def _correlations(table: Matrix, rest: Matrix) -> Matrix:
    """Pearson's correlation of the columns of both, over the rows that have a number in both; nan where undefined."""
    use = ~np.isnan(table) & ~np.isnan(rest)
    n = np.maximum(use.sum(axis=0), 1)
    x, y = np.where(use, table, 0.0), np.where(use, rest, 0.0)
    x, y = (np.where(use, one - one.sum(axis=0) / n, 0.0) for one in (x, y))
    spread = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    defined = (spread > 1e-12) & (n >= 3)
    return np.asarray(np.where(defined, (x * y).sum(axis=0) / np.where(defined, spread, 1.0), np.nan), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ends:
    """Means by problem of the best and the worst models, and of those that are not among the best, or the worst."""

    top: Matrix
    bottom: Matrix
    not_top: Matrix
    not_bottom: Matrix
    enough: npt.NDArray[np.bool_]
    """Whether an end has enough models for the rules about it."""

    @classmethod
    def of(cls, table: Matrix, rest: Matrix) -> "_Ends":
        """Order the models anew for each problem, by their means over the other ones."""
        order = np.argsort(rest, axis=0, kind="stable")  # nan comes last
        results = np.nan_to_num(np.take_along_axis(table, order, axis=0))
        played = (~np.isnan(rest)).sum(axis=0)
        size = np.clip(played // 4, 1, _MOST_AT_AN_END)
        places = np.arange(len(table))[:, None]
        total = (results * (places < played)).sum(axis=0)
        worst = (results * (places < size)).sum(axis=0)
        best = (results * ((places >= played - size) & (places < played))).sum(axis=0)
        others = np.maximum(played - size, 1)
        return cls(
            top=best / size,
            bottom=worst / size,
            not_top=(total - best) / others,
            not_bottom=(total - worst) / others,
            enough=size >= _FEWEST_AT_AN_END,
        )

    def unlikely(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """The problems that the best miss and the others solve, and those that the worst solve and the others miss."""
        missed = self.enough & (self.top == 0) & (self.not_top > 0.5)
        solved = self.enough & (self.bottom == 1) & (self.not_bottom < 0.5)
        return missed, solved


def _chance_of_correlation(correlations: Matrix, played: npt.NDArray[np.int_]) -> Matrix:
    """One-sided chance of a correlation this low or lower when there is none (Fisher's z); 1 where undefined."""
    bounded = np.clip(np.nan_to_num(correlations, nan=0.999), -0.999, 0.999)
    scores = np.arctanh(bounded) * np.sqrt(np.maximum(played - 3, 1))
    return np.array([NormalDist().cdf(score) for score in scores])
