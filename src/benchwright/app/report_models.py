"""What the runs of one model say: estimates, repeats, where it fails, what it cost."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchwright.app.summary import Summary, estimates_to_plain, laziness_to_plain, summarise
from benchwright.core.ordering import natural
from benchwright.core.results import ProblemFacts, ScoredRun, StoredRun, tallies_of_rows
from benchwright.core.runs import Estimate, ResultRow, Score
from benchwright.leaderboard.breakdowns import breakdowns
from benchwright.stats.bounds import Bounds, bounds
from benchwright.stats.breakdown import GroupEstimate
from benchwright.stats.estimates import estimate_pass_hat_k
from benchwright.stats.intervals import SEED
from benchwright.stats.power import TWO_POINTS
from benchwright.stats.repeats import (
    RunsNeeded,
    Spread,
    consistency,
    runs_needed,
    runs_needed_by_spread,
    spread,
    variance_parts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRuns:
    """The runs of one model under equal conditions, with what was read of them."""

    label: str
    scored: tuple[ScoredRun, ...]
    rows: tuple[ResultRow, ...]
    """Of all runs; samples of later runs are numbered after those of earlier ones."""
    facts: Mapping[str, ProblemFacts]
    given_names: Mapping[str, frozenset[str]] | None

    @property
    def last(self) -> StoredRun:
        """The last of them."""
        return self.scored[-1].run

    @property
    def score(self) -> Score:
        """The score that counts."""
        return self.scored[-1].score


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """What runs of one model under equal conditions say of runs to come."""

    spread: Spread
    difference: float
    """What further runs are to show between this model and one that varies like it, on these problems."""
    by_chance: int
    """Runs of each that do, if nothing but the problems' own chance moves the score."""
    by_spread: int
    """Runs of each that do, if runs go on to differ as much as these did."""

    @property
    def needed(self) -> int:
        """The larger of both."""
        return max(self.by_chance, self.by_spread)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """Everything about one model."""

    label: str
    runs: tuple[StoredRun, ...]
    score: Score
    summary: Summary
    """Over all samples of all runs: estimates for every score and k, outcomes, laziness, the slowest."""
    bounds: Mapping[Score, Bounds]
    """By score, where there are faults."""
    pass_hat: tuple[Estimate, ...]
    """pass^1, pass^2, …, that all of k samples are right; empty with one sample for each problem."""
    consistency: tuple[int, int, int]
    """Problems solved always, sometimes, never."""
    repeats: Repeats | None
    """None for a single run, and below two problems that all runs have."""
    breakdowns: Mapping[str, Sequence[GroupEstimate]]
    """By kind, in the order of `benchwright.leaderboard.breakdowns.breakdowns`."""
    cost: float | None
    wall_seconds: float

    def to_plain(self) -> dict[str, Any]:
        """The report as an entry of ``models`` of ``bw report --json``."""
        last, summary = self.runs[-1], self.summary
        return {
            "model": last.model,
            "label": self.label,
            "scaffold": last.scaffold,
            "subset": last.subset,
            "variant": last.variant,
            "version": last.version,
            "origin": last.origin.value,
            "source": last.source and last.source.to_plain(),
            "runs": len(self.runs),
            "entries": [run.entry for run in self.runs],
            "score": self.score.value,
            "problems": summary.problems,
            "solved": summary.solved,
            "missing": list(summary.missing),
            "faults": list(summary.faults),
            "flags": sorted({flag for run in self.runs for flag in run.flags}),
            "estimates": estimates_to_plain(summary.estimates),
            "bounds": {score.value: dataclasses.asdict(found) for score, found in self.bounds.items()},
            "pass_hat_k": {str(one.k): dataclasses.asdict(one) for one in self.pass_hat},
            "consistency": dict(zip(("always", "sometimes", "never"), self.consistency, strict=True)),
            "repeats": None if self.repeats is None else dataclasses.asdict(self.repeats.spread),
            "runs_needed": None if self.repeats is None else _needed_to_plain(self.repeats),
            "breakdowns": {
                kind: [dataclasses.asdict(one) for one in groups] for kind, groups in self.breakdowns.items()
            },
            "outcomes": [[score.value, outcome, reason, n] for score, outcome, reason, n in summary.outcomes],
            "laziness": None if summary.laziness is None else laziness_to_plain(summary.laziness),
            "integrity": [run.manifest["agents"]["integrity"] for run in self.runs if run.manifest.get("agents")],
            "cost": self.cost,
            "cpu_seconds": summary.cpu_seconds,
            "wall_seconds": self.wall_seconds,
            "facts": last.facts.to_plain(),
        }


def _needed_to_plain(repeats: Repeats) -> dict[str, Any]:
    """What repeats of one model can tell; how far two models differ on other problems is not among it."""
    return {
        "difference": repeats.difference,
        "on_these": repeats.needed,
        "by_chance": repeats.by_chance,
        "by_spread": repeats.by_spread,
    }


def report_model(runs: ModelRuns) -> ModelReport:
    """Everything that the runs of one model say; they have at least one row."""
    stored = tuple(one.run for one in runs.scored)
    scores = [score for score in stored[-1].scores if any(row.score is score for row in runs.rows)]
    summary = summarise(runs.rows, scores, {}, given_names=runs.given_names)
    pooled = {score: tallies_of_rows(runs.rows, score) for score in scores}
    counts = [(tally.scored, tally.passed) for tally in pooled[runs.score].values() if tally.scored]
    costs = [run.cost for run in stored]
    last_rows = [row for row in runs.rows if row.score is runs.score]
    problems = list(pooled[runs.score])
    shares = [np.nan if tally.share is None else tally.share for tally in pooled[runs.score].values()]
    return ModelReport(
        label=runs.label,
        runs=stored,
        score=runs.score,
        summary=dataclasses.replace(summary, missing=_in_order(summary.missing), faults=_in_order(summary.faults)),
        bounds={
            score: bounds(tallies.values())
            for score, tallies in pooled.items()
            if any(tally.faults for tally in tallies.values())
        },
        pass_hat=_pass_hat(counts, runs.score),
        consistency=consistency(counts),
        repeats=_repeats(by_run(runs.scored, sorted({problem for one in runs.scored for problem in one.tallies}))),
        breakdowns=breakdowns(shares, problems, runs.facts, rng=np.random.default_rng(SEED)),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        wall_seconds=sum(row.wall_seconds for row in last_rows),
    )


def numbered(runs: Sequence[Sequence[ResultRow]]) -> tuple[ResultRow, ...]:
    """Rows of several runs as those of one that took all their samples."""
    every: list[ResultRow] = []
    first = 0
    for rows in runs:
        every += [dataclasses.replace(row, sample=first + row.sample) if first else row for row in rows]
        first = 1 + max((row.sample for row in every), default=-1)
    return tuple(every)


def _pass_hat(counts: Sequence[tuple[int, int]], score: Score) -> tuple[Estimate, ...]:
    if max((n for n, _ in counts), default=0) < 2:
        return ()
    return tuple(estimate_pass_hat_k(counts, score=score, rng=np.random.default_rng(SEED)))


def _in_order(items: Sequence[str]) -> tuple[str, ...]:
    """Numbers in names by their size: 2 before 12."""
    return tuple(sorted(items, key=natural))


def _repeats(table: npt.NDArray[np.float64]) -> Repeats | None:
    if not enough_repeats(table):
        return None
    found = spread(table)
    return Repeats(
        spread=found,
        difference=TWO_POINTS,
        by_chance=runs_needed(TWO_POINTS, variance_parts(table, table)).on_these,
        by_spread=runs_needed_by_spread(TWO_POINTS, found.sd),
    )


def enough_repeats(*tables: npt.NDArray[np.float64]) -> bool:
    """Whether each has several runs, and all of them two problems with a result in every run."""
    complete = np.logical_and.reduce([~np.isnan(table).any(axis=1) for table in tables])
    return min(table.shape[1] for table in tables) > 1 and int(complete.sum()) > 1


def needed_between(
    a: Sequence[ScoredRun], b: Sequence[ScoredRun], problems: Sequence[str], difference: float = TWO_POINTS
) -> RunsNeeded | None:
    """How many runs of each of two models show a difference between them; None unless both were run several times."""
    first, second = by_run(a, problems), by_run(b, problems)
    return runs_needed(difference, variance_parts(first, second)) if enough_repeats(first, second) else None


def by_run(runs: Sequence[ScoredRun], problems: Sequence[str]) -> npt.NDArray[np.float64]:
    """Share of right samples, a row per problem and a column per run; nan where there is no result."""
    shares = [[one.tallies[problem].share if problem in one.tallies else None for one in runs] for problem in problems]
    return np.array([[np.nan if share is None else share for share in row] for row in shares], dtype=np.float64)
