"""Elo-like ratings: each problem is a match between every two models, the strengths are Bradley and Terry's.

A model's share of right samples on a problem stands for it.  In the match of A and B, one sample of each is drawn: A
wins when its sample passes and B's does not, and they tie when both pass or both fail.  With several samples the
chances of that count, as fractions of a match.  With one sample that is what BigCodeBench does (arXiv:2406.15877).

Strengths maximise the likelihood of Bradley and Terry (Biometrika 39, 1952), and are put on the scale of Elo: 400
points are a factor of 10 in the odds of winning.  Intervals and ranges of ranks come from resampling *problems*.
(BigCodeBench's public script resamples single matches, as if the 4,950 matches that 100 models play on one problem
knew nothing of each other; its intervals are much too narrow.)

So that every rating is finite, each model is given one drawn match more, shared evenly among all models it can be
compared with.  Two models that met no common problem, not even by way of others, are not compared: they stand in
different groups, each with a scale of its own.
"""

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchwright.stats.bradley_terry import Nearby, held_by_prior, meeting_groups
from benchwright.stats.intervals import draws, expanded_tail

#: Rounds of the bootstrap, as many as BigCodeBench's script makes.
ROUNDS = 500
#: Elo points of a factor e in the odds of winning.
_POINTS = 400 / math.log(10)
#: Ratings nearer than this, in points, are equal; the maximum is found far more exactly.
_EQUAL = 1e-4

Matrix = npt.NDArray[np.float64]


class Ties(enum.StrEnum):
    """What a problem says on which two models come to the same."""

    HALF = "half"
    """Half a win for each.  Among models that were given the same problems the order is that of what they solve."""
    DROP = "drop"
    """Nothing: the match does not count, as in BigCodeBench's public leaderboard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """What fixes the scale, on which only differences mean anything."""

    model: str | None = None
    """The model that is at ``value``; None puts the mean of all models there."""
    value: float = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """Where one model stands."""

    model: str
    rating: float
    """Most likely strength given all problems, in Elo points."""
    median: float
    """Median over the rounds, which is what BigCodeBench's leaderboard shows."""
    low: float
    high: float
    """Ends of the interval over the rounds.  A model that is the anchor has no width: the others are measured by it."""
    rank: int
    """1 + models of its group with a higher rating; equal ratings share a rank."""
    rank_low: int
    """Best rank: 1 + models that are ahead of it in nearly all rounds (97.5 % for a confidence of 95 %)."""
    rank_high: int
    """Worst rank: models of its group less those it is ahead of in nearly all rounds."""
    played: int
    """Problems it has a result for."""
    group: int
    """Number of the group of models that it can be compared with; 0 is the largest."""
    held: bool
    """Whether only the additional drawn match keeps its rating finite, as for a model that never wins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratings:
    """Ratings of several models, best first within each group, and how they were made."""

    rows: tuple[Rating, ...]
    ties: Ties
    anchor: Anchor
    rounds: int
    confidence: float
    problems: int
    groups: tuple[tuple[str, ...], ...]
    """Models that can be compared with each other, largest group first; readers have to be told of a second one."""
    method: str
    """How the ratings were made, in a sentence or two for readers."""


def rate(
    models: Sequence[str],
    shares: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    ties: Ties = Ties.HALF,
    rounds: int = ROUNDS,
    anchor: Anchor | None = None,
    confidence: float = 0.95,
) -> Ratings:
    """Rate models by what they solve.

    Args:
        models: Their names, all different.
        shares: A row per model and a column per problem: share of right samples, nan where there is no result.
        rng: Source of chance; the same one gives the same intervals.
        ties: What equal results on a problem count.
        rounds: How often the problems are resampled.
        anchor: What fixes the scale; without it the mean of all models is at 1000.
        confidence: Of the intervals and the ranges of ranks.

    Raises:
        ValueError: Names, shares or anchor do not fit together.
    """
    anchor = anchor or Anchor()
    table = _checked(models, shares, anchor, rounds)
    drawn = draws(table.shape[1], rounds, rng)
    level = _Level(tail=expanded_tail(table.shape[1], confidence), confidence=confidence)
    rows: list[Rating] = []
    groups = meeting_groups(~np.isnan(table))
    for number, group in enumerate(groups):
        names = [models[index] for index in group]
        group_rows = _rate_group(names, table[group], ties, anchor, drawn, level, number)
        rows += sorted(group_rows, key=lambda row: (row.rank, -row.rating, row.model))
    return Ratings(
        rows=tuple(rows),
        ties=ties,
        anchor=anchor,
        rounds=rounds,
        confidence=confidence,
        problems=table.shape[1],
        groups=tuple(tuple(models[index] for index in group) for group in groups),
        method=_method(ties, anchor, rounds, confidence),
    )


def _checked(models: Sequence[str], shares: npt.ArrayLike, anchor: Anchor, rounds: int) -> Matrix:
    table = np.asarray(shares, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != len(models) or table.size == 0:
        raise ValueError(f"expected a row per model and a column per problem, got {len(models)} and {table.shape}")
    if len(set(models)) != len(models):
        raise ValueError("expected a different name for each model")
    if not np.all((table >= 0) & (table <= 1) | np.isnan(table)):
        raise ValueError("expected shares between 0 and 1, or nan where a model has no result")
    if anchor.model is not None and anchor.model not in models:
        raise ValueError(f"expected the anchor to be one of the models, got {anchor.model!r}")
    if rounds < 1:
        raise ValueError(f"expected at least one round, got {rounds}")
    return table


class _Level(NamedTuple):
    """How sure intervals and ranges of ranks are."""

    tail: float
    """Share of rounds outside an interval, at each end."""
    confidence: float


def _rate_group(
    names: Sequence[str], table: Matrix, ties: Ties, anchor: Anchor, drawn: Matrix, level: "_Level", number: int
) -> list[Rating]:
    played = ~np.isnan(table)
    outcomes = _Outcomes(table, ties)
    start = Nearby(outcomes.against_each)
    ratings = _anchored(start.logs, names, anchor)
    rounds = (start.strengths(outcomes.wins(weights), outcomes.matches(weights)) for weights in drawn)
    resampled = np.array([_anchored(logs, names, anchor) for logs in rounds])
    lows, medians, highs = np.quantile(resampled, [level.tail, 0.5, 1 - level.tail], axis=0)
    ahead = np.array([(resampled[:, [one]] > resampled + _EQUAL).mean(axis=0) for one in range(len(names))])
    surely = ahead >= 0.5 + level.confidence / 2
    held = held_by_prior(outcomes.against_each)
    rows = []
    for one, name in enumerate(names):
        rank = 1 + int((ratings > ratings[one] + _EQUAL).sum())
        rows.append(
            Rating(
                model=name,
                rating=float(ratings[one]),
                median=float(medians[one]),
                low=float(lows[one]),
                high=float(highs[one]),
                rank=rank,
                rank_low=min(rank, 1 + int(surely[:, one].sum())),
                rank_high=max(rank, len(names) - int(surely[one].sum())),
                played=int(played[one].sum()),
                group=number,
                held=bool(held[one]),
            )
        )
    return rows


class _Outcomes:
    """What the models' matches came to, each problem counted as often as it was drawn."""

    def __init__(self, table: Matrix, ties: Ties) -> None:
        self._right, self._wrong = np.nan_to_num(table), np.nan_to_num(1.0 - table)
        self._played = (~np.isnan(table)).astype(np.float64)
        self._ties = ties
        self._solved, self._missed = self._right.astype(np.float32), self._wrong.T.astype(np.float32)
        self._everybody = bool(self._played.all())
        # Wins of a model on a problem against all others.  They add up over problems, however often each is drawn.
        right, wrong = self._right.sum(axis=0), self._wrong.sum(axis=0)
        self._by_problem = self._right * (wrong - self._wrong)
        if ties is Ties.HALF:
            alike = self._right * (right - self._right) + self._wrong * (wrong - self._wrong)
            self._by_problem += alike / 2

    @property
    def against_each(self) -> Matrix:
        """How often each model (row) won against each other one (column), every problem counted once."""
        won: Matrix = self._right @ self._wrong.T
        if self._ties is Ties.HALF:
            won += (self._right @ self._right.T + self._wrong @ self._wrong.T) / 2
        np.fill_diagonal(won, 0.0)
        return won

    def wins(self, weights: Matrix) -> Matrix:
        """How often each model won at all."""
        return np.asarray(self._by_problem @ weights, dtype=np.float64)

    def matches(self, weights: Matrix) -> Matrix:
        """How often each two models met, or met without a tie."""
        models = len(self._played)
        if self._ties is Ties.DROP:
            # In half the precision it takes half the time; with one sample for each problem it is exact even so.
            won = (self._solved * weights.astype(np.float32)) @ self._missed
            return (won + won.T).astype(np.float64)
        if self._everybody:
            return np.full((models, models), weights.sum())
        return np.asarray((self._played * weights) @ self._played.T, dtype=np.float64)


def _anchored(logs: Matrix, names: Sequence[str], anchor: Anchor) -> Matrix:
    points = logs * _POINTS
    zero = points[names.index(anchor.model)] if anchor.model in names else points.mean()
    return np.asarray(points - zero + anchor.value, dtype=np.float64)


def _method(ties: Ties, anchor: Anchor, rounds: int, confidence: float) -> str:
    equal = "equal outcomes count half a win each" if ties is Ties.HALF else "equal outcomes are left out"
    fixed = "the mean of the models" if anchor.model is None else anchor.model
    return (
        f"Bradley-Terry strengths on the Elo scale (400 points are odds of 10 to 1; {fixed} at {anchor.value:g}); each "
        f"problem is a match between two models, {equal}. {confidence:.0%} intervals from {rounds} rounds of "
        f"resampling problems."
    )
