"""Bradley–Terry strengths from counts of wins: the library evalica finds them, and what it finds is checked.

evalica stops when its steps become small, which is not the same as being at the maximum: when one set of models
hardly ever loses to another, its steps become small long before.  So the slope of the likelihood is looked at, and
where it is not flat Newton's method goes on from there.  On ordinary results that is never needed.

The rounds of a bootstrap start from those strengths and go to their own maximum by Newton's method alone, the
curvature taken from the start.  That needs no list of matches: 200 models take a tenth of the time the library does.
Tests hold both to be the same.
"""

import numpy as np
import numpy.typing as npt

#: With these evalica takes about 15 iterations on 100 models and a slope of 1e-9 wins is left; with its own defaults
#: (1e-6, 100) the slope is up to 2e-4 wins.
_TOLERANCE = 1e-10
_ITERATIONS = 200
#: Wins by which a model may differ from what its strength predicts, per match.
_FLAT = 1e-9
#: More than enough for 400 models of which each always beats all later ones, from a start that knows nothing.
_NEWTON_STEPS = 2000
#: The same for a round of a bootstrap, where it is a hundred-thousandth of a point.
_FLAT_ROUND = 1e-8
#: Steps with the curvature of the start before a new one is worth its price; ordinary rounds take five to eight.
_FIXED_STEPS = 30
#: Beyond, the exponential of a strength has no place in a float.
_LARGEST_LOG = 300.0
#: A drawn match of each model, shared evenly among the others.
_PRIOR = 1.0

Matrix = npt.NDArray[np.float64]


def strengths(wins: Matrix) -> Matrix:
    """Natural logarithms of the strengths, their mean 0, given how often each row won against each column.

    Every model is given one drawn match more, shared evenly among all others, which keeps the answer finite and
    unique.  It is the same for all models, so it moves nobody past another who has played the same matches.
    """
    if len(wins) == 1:
        return np.zeros(1)
    counts = wins + _PRIOR / (2 * (len(wins) - 1))
    np.fill_diagonal(counts, 0.0)
    return _maximum(_by_evalica(counts), counts.sum(axis=1), counts + counts.T, _FLAT)


class Nearby:
    """Strengths of results that resemble others: of the rounds of a bootstrap, given all results."""

    def __init__(self, wins: Matrix) -> None:
        """Start from how often each row won against each column in all results."""
        self._models = len(wins)
        self._prior = _PRIOR / max(1, self._models - 1)
        self.logs = strengths(wins)
        """Strengths of all results."""
        curvature = _curvature(self.logs, self._with_prior(wins + wins.T))
        self._inverse: Matrix = np.linalg.inv(curvature).astype(np.float64)

    def strengths(self, wins: Matrix, matches: Matrix) -> Matrix:
        """As :func:`strengths`, given how often each model won at all, and how often each two met."""
        if self._models == 1:
            return np.zeros(1)
        wins, matches, logs = wins + _PRIOR / 2, self._with_prior(matches), self.logs
        flat = _FLAT_ROUND * matches.sum(axis=1).max()
        for _ in range(_FIXED_STEPS):
            slope = wins - _expected(logs, matches)
            if np.abs(slope).max() <= flat:
                return logs
            logs = logs + _bounded(np.asarray(self._inverse @ slope, dtype=np.float64))
        return _maximum(logs, wins, matches, _FLAT_ROUND)

    def _with_prior(self, matches: Matrix) -> Matrix:
        added = matches + self._prior
        np.fill_diagonal(added, 0.0)
        return added


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


def _maximum(logs: Matrix, wins: Matrix, matches: Matrix, flat: float) -> Matrix:
    """The maximum itself, by Newton's method from a point near it; returns at once when it is there."""
    if not np.all(np.isfinite(logs)):
        logs = np.zeros(len(wins))
    for _ in range(_NEWTON_STEPS):
        slope = wins - _expected(logs, matches)
        if np.abs(slope).max() <= flat * matches.sum(axis=1).max():
            return logs
        step: Matrix = np.linalg.solve(_curvature(logs, matches), slope).astype(np.float64)
        logs = logs + _bounded(step)
        logs -= logs.mean()
    raise ArithmeticError(f"the ratings of {len(logs)} models were not found in {_NEWTON_STEPS} steps")


def _expected(logs: Matrix, matches: Matrix) -> Matrix:
    """How often each model should have won by these strengths."""
    return np.asarray((matches * _chances(logs)).sum(axis=1), dtype=np.float64)


def _chances(logs: Matrix) -> Matrix:
    """The chance of each row to win against each column."""
    if np.abs(logs).max() > _LARGEST_LOG:
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(logs[None, :] - logs[:, None])), dtype=np.float64)
    power = np.exp(logs)  # as many exponentials as models instead of pairs
    return np.asarray(power[:, None] / (power[:, None] + power[None, :]), dtype=np.float64)


def _curvature(logs: Matrix, matches: Matrix) -> Matrix:
    """The likelihood's negative second derivative, made to have an inverse.

    Adding the same to all strengths changes no chance; the constant added here fixes their sum.
    """
    chances = _chances(logs)
    between = matches * chances * chances.T
    curvature = np.diag(between.sum(axis=1)) - between
    return np.asarray(curvature + max(curvature.trace(), 1.0) / len(logs) ** 2, dtype=np.float64)


def _bounded(step: Matrix) -> Matrix:
    """Never more than a factor e at once."""
    return np.asarray(step * min(1.0, 1.0 / np.abs(step).max()), dtype=np.float64)


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
    American Mathematical Monthly 64:8, 1957).  Models outside the largest such set are held, all where no two are in
    one; the only model there is is not.
    """
    from scipy.sparse import csgraph

    _, labels = csgraph.connected_components(wins > 0, directed=True, connection="strong")
    sizes = np.bincount(labels)
    if sizes.max() == 1:
        return np.full(len(wins), len(wins) > 1)
    return np.asarray(labels != sizes.argmax(), dtype=np.bool_)
