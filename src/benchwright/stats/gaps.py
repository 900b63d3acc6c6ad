"""The gap between two kinds of models, such as open and closed weights: best against best, problem by problem."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchwright.stats.intervals import resampled_means
from benchwright.stats.paired import PairedDifference, paired_difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The best model of group A beside the best of group B, over the problems that all models of both have."""

    best_a: int
    """Position of the best model of A; of equally good ones the first."""
    best_b: int
    paired: PairedDifference
    """Best of A minus best of B.  Both were picked by these very results, which flatters both, a larger group more."""
    a_ahead: float
    """Share of rounds in which A's best is ahead, the best picked anew in each round; a draw counts half."""
    mean_difference: float
    """Mean of all models of A minus that of all models of B: who was entered decides it more than how good they are."""


def gap(
    shares_a: npt.ArrayLike,
    shares_b: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    rounds: int = 2000,
    confidence: float = 0.95,
) -> Gap:
    """Compare two groups of models: a row per model and a column per problem in both, nan where there is no result.

    Raises `ValueError` when no problem has a result of every model; leave out models with few results beforehand.
    """
    first, second = np.asarray(shares_a, dtype=np.float64), np.asarray(shares_b, dtype=np.float64)
    if first.ndim != 2 or second.ndim != 2 or first.shape[1:] != second.shape[1:] or not first.size or not second.size:
        raise ValueError(f"expected two groups on the same problems, got shapes {first.shape} and {second.shape}")
    both = np.isfinite(np.vstack([first, second])).min(axis=0)
    if not both.any():
        raise ValueError("expected at least one problem that every model has a result for, there is none")
    first, second = first[:, both], second[:, both]
    best_a, best_b = int(first.mean(axis=1).argmax()), int(second.mean(axis=1).argmax())
    means = resampled_means(np.vstack([first, second]).T, rounds=rounds, rng=rng)
    ahead = means[:, : len(first)].max(axis=1) - means[:, len(first) :].max(axis=1)
    return Gap(
        best_a=best_a,
        best_b=best_b,
        paired=paired_difference(first[best_a], second[best_b], rng=rng, rounds=rounds, confidence=confidence),
        a_ahead=float((ahead > 1e-12).mean() + (np.abs(ahead) <= 1e-12).mean() / 2),
        mean_difference=float(first.mean() - second.mean()),
    )
