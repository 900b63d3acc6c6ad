"""The verdicts behind a table as a matrix of small codes: a row per model, a column per problem.

A code stands for what the samples of a problem came to: how many count, how many of them pass, how many are faults.
Nothing is rounded, so that what a browser calculates from it is what Python calculates from the tallies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchwright.core.ordering import natural
from benchwright.core.results import ScoredRun, Tally
from benchwright.core.runs import Score
from benchwright.leaderboard.site.payload import packed
from benchwright.leaderboard.tables import LeaderboardRow, Table

NOT_ASKED = (0, 0, 0)
"""Counts of a problem that a run was not asked; always code 0."""

Counts = tuple[int, int, int]
"""Samples that count, samples that pass, samples that are faults."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcomes:
    """What every row of a table made of every problem."""

    rows: tuple[int, ...]
    """Places in the table of the rows that have verdicts."""
    problems: tuple[str, ...]
    """The columns, in the order of their ids."""
    palette: tuple[Counts, ...]
    """Counts by code."""
    codes: npt.NDArray[np.uint16]

    def shares(self) -> npt.NDArray[np.float64]:
        """Share of passing samples of each cell; nan where nothing counts."""
        by_code = np.array([passed / scored if scored else np.nan for scored, passed, _ in self.palette])
        return by_code[self.codes]

    def differing(self) -> npt.NDArray[np.bool_]:
        """For each problem: whether some rows do better on it than others."""
        shares = self.shares()
        low = np.where(np.isnan(shares), np.inf, shares).min(axis=0)
        high = np.where(np.isnan(shares), -np.inf, shares).max(axis=0)
        differs: npt.NDArray[np.bool_] = low < high
        return differs

    def to_plain(self) -> dict[str, Any]:
        """What the pages read."""
        return {
            "rows": list(self.rows),
            "problems": list(self.problems),
            "palette": [list(counts) for counts in self.palette],
            **packed(self.codes, len(self.palette)),
        }


class Runs:
    """Scored runs by entry and score."""

    def __init__(self, runs: Sequence[ScoredRun]) -> None:
        self._runs = {(run.run.entry, run.score): run for run in runs}

    def outcomes(self, table: Table) -> Outcomes | None:
        """The matrix of a table; None when no row has verdicts."""
        score = table.score
        if score is None:
            return None
        tallies = {place: self._tallies(row, score) for place, row in enumerate(table.rows)}
        rows = tuple(place for place, each in tallies.items() if each)
        if not rows:
            return None
        wanted = table.problems or {problem for place in rows for each in tallies[place] for problem in each}
        problems = tuple(sorted(wanted, key=natural))
        codes = np.zeros((len(rows), len(problems)), dtype=np.uint16)
        palette: dict[Counts, int] = {NOT_ASKED: 0}
        for line, place in enumerate(rows):
            counts = _counts(tallies[place], problems)
            codes[line] = [palette.setdefault(each, len(palette)) for each in counts]
        return Outcomes(rows=rows, problems=problems, palette=tuple(palette), codes=codes)

    def _tallies(self, row: LeaderboardRow, score: Score) -> list[Mapping[str, Tally]]:
        """Tallies of every run behind a row that is there."""
        found = (self._runs.get((entry, score)) for entry in row.entries or (row.entry,))
        return [run.tallies for run in found if run is not None]


def _counts(runs: Sequence[Mapping[str, Tally]], problems: Sequence[str]) -> list[Counts]:
    counts = []
    for problem in problems:
        found = [tally for tally in (run.get(problem) for run in runs) if tally is not None]
        counts.append(
            (
                sum(tally.scored for tally in found),
                sum(tally.passed for tally in found),
                sum(tally.faults for tally in found),
            )
        )
    return counts
