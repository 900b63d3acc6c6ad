"""Bradley–Terry strengths from counts of wins: the library evalica finds them, and what it finds is checked.

evalica stops when its steps become small, which is not the same as being at the maximum: when one set of models
hardly ever loses to another, its steps become small long before.  So the slope of the likelihood is looked at, and
where it is not flat Newton's method goes on from there.  On ordinary results that is never needed.
"""

import numpy as np
import numpy.typing as npt

#: With these evalica takes about 15 iterations on 100 models and a slope of 1e-9 wins is left; with its own defaults
#: (1e-6, 100) the slope is up to 2e-4 wins.
_TOLERANCE = 1e-10
_ITERATIONS = 200
#: Wins by which a model may differ from what its strength predicts, per match.
_FLAT = 1e-9
_NEWTON_STEPS = 100
#: A drawn match of each model, shared evenly among the others.
_PRIOR = 1.0

Matrix = npt.NDArray[np.float64]


def strengths(wins: Matrix) -> Matrix:
    """Natural logarithms of the strengths, their mean 0, given how often each row won against each column.

    Every model is given one drawn match more, shared evenly among all others, which keeps the answer finite and
    unique.  It is the same for all models, so it moves nobody past another who has played the same matches.
    """
    models = len(wins)
    if models == 1:
        return np.zeros(1)
    counts = wins + _PRIOR / (2 * (models - 1))
    np.fill_diagonal(counts, 0.0)
    return _polished(_by_evalica(counts), counts)


def _by_evalica(counts: Matrix) -> Matrix:
    import evalica  # brings pandas and scipy along, two seconds, so not before it is needed

    models = len(counts)
    winners, losers = np.nonzero(~np.eye(models, dtype=bool))
    found = evalica.bradley_terry(
        winners.tolist(),
        losers.tolist(),
        np.full(len(winners), evalica.Winner.X, dtype=np.uint8),
        weights=counts[winners, losers],
        tolerance=_TOLERANCE,
        limit=_ITERATIONS,
    )
    logs = np.log(found.scores.sort_index().to_numpy(dtype=np.float64))
    return np.asarray(logs - logs.mean(), dtype=np.float64)


def _polished(logs: Matrix, counts: Matrix) -> Matrix:
    """The maximum itself, by Newton's method from a point near it; returns at once when it is there."""
    if not np.all(np.isfinite(logs)):
        logs = np.zeros(len(counts))
    matches = counts + counts.T
    for _ in range(_NEWTON_STEPS):
        expected = 1.0 / (1.0 + np.exp(logs[None, :] - logs[:, None]))
        slope = counts.sum(axis=1) - (matches * expected).sum(axis=1)
        if np.abs(slope).max() <= _FLAT * matches.sum(axis=1).max():
            return logs
        curvature = matches * expected * expected.T
        hessian = np.diag(curvature.sum(axis=1)) - curvature
        # Adding the same to all strengths changes nothing; this fixes their sum, so that the matrix has an inverse.
        step = np.linalg.solve(hessian + hessian.trace() / len(logs) ** 2, slope)
        logs = logs + step * min(1.0, 1.0 / np.abs(step).max())  # never more than a factor e at once
        logs -= logs.mean()
    raise ArithmeticError(f"the ratings of {len(logs)} models were not found in {_NEWTON_STEPS} steps")


def meeting_groups(played: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Models that can be compared, directly or by way of others, given who (row) has a result for what (column).

    Largest group first, and within a group in the given order.
    """
    from scipy.sparse import csgraph

    seen = played.astype(np.float64)
    _, labels = csgraph.connected_components(seen @ seen.T > 0, directed=False)
    groups: dict[int, list[int]] = {}
    for index, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(index)
    return sorted(groups.values(), key=lambda group: (-len(group), group[0]))


def held_by_prior(wins: Matrix) -> npt.NDArray[np.bool_]:
    """Which models' ratings would be infinite, or open, were it not for the additional drawn match.

    Ratings are finite exactly among models of which each can be reached from each by a chain of wins (Ford, The
    American Mathematical Monthly 64:8, 1957).  Models outside the largest such set are held; a model alone is not.
    """
    from scipy.sparse import csgraph

    _, labels = csgraph.connected_components(wins > 0, directed=True, connection="strong")
    largest = np.bincount(labels).argmax()
    return np.asarray(labels != largest, dtype=np.bool_)
