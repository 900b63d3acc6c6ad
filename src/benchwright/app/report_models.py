"""What the runs of one model say: estimates, repeats, where it fails, what it cost."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchwright.app.summary import Summary, estimates_to_plain, laziness_to_plain, summarise
from benchwright.core.results import ProblemFacts, ScoredRun, StoredRun, Tally
from benchwright.core.runs import Estimate, ResultRow, Score
from benchwright.core.verdicts import Outcome
from benchwright.leaderboard.breakdowns import breakdowns
from benchwright.stats.bounds import Bounds, bounds
from benchwright.stats.breakdown import GroupEstimate
from benchwright.stats.estimates import estimate_pass_hat_k
from benchwright.stats.intervals import SEED
from benchwright.stats.repeats import RunsNeeded, Spread, consistency, runs_needed, spread, variance_parts

POINTS = 0.02
"""The difference that repeats are to show: two points."""


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
    spread: Spread | None
    """Between runs; None for a single one."""
    runs_needed: RunsNeeded | None
    """To see two points between this model and one like it; None for a single run."""
    breakdowns: Mapping[str, Sequence[GroupEstimate]]
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
            "repeats": None if self.spread is None else dataclasses.asdict(self.spread),
            "runs_needed": _needed_to_plain(self.runs_needed),
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


def _needed_to_plain(needed: RunsNeeded | None) -> dict[str, Any] | None:
    """What repeats of one model can tell; how far two models differ on other problems is not among it."""
    return None if needed is None else {"difference": needed.difference, "on_these": needed.on_these}


def report_model(runs: ModelRuns) -> ModelReport:
    """Everything that the runs of one model say; they have at least one row."""
    stored = tuple(one.run for one in runs.scored)
    scores = [score for score in stored[-1].scores if any(row.score is score for row in runs.rows)]
    summary = summarise(runs.rows, scores, {}, given_names=runs.given_names)
    pooled = {score: _tallies(runs.rows, score) for score in scores}
    counts = [(tally.scored, tally.passed) for tally in pooled[runs.score].values() if tally.scored]
    table = _by_run(runs)
    several = table.shape[1] > 1 and bool((~np.isnan(table).any(axis=1)).sum() > 1)
    costs = [run.cost for run in stored]
    last_rows = [row for row in runs.rows if row.score is runs.score]
    problems = list(pooled[runs.score])
    shares = [np.nan if tally.share is None else tally.share for tally in pooled[runs.score].values()]
    return ModelReport(
        label=runs.label,
        runs=stored,
        score=runs.score,
        summary=summary,
        bounds={
            score: bounds(tallies.values())
            for score, tallies in pooled.items()
            if any(tally.faults for tally in tallies.values())
        },
        pass_hat=_pass_hat(counts, runs.score),
        consistency=consistency(counts),
        spread=spread(table) if several else None,
        runs_needed=runs_needed(POINTS, variance_parts(table, table)) if several else None,
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


def _tallies(rows: Sequence[ResultRow], score: Score) -> dict[str, Tally]:
    counts: dict[str, list[int]] = {}
    for row in rows:
        if row.score is score:
            count = counts.setdefault(row.problem_id, [0, 0, 0])
            count[0] += row.verdict.scored
            count[1] += row.verdict.outcome is Outcome.PASSED
            count[2] += not row.verdict.scored
    return {one: Tally(scored=n, passed=passed, faults=faults) for one, (n, passed, faults) in counts.items()}


def _pass_hat(counts: Sequence[tuple[int, int]], score: Score) -> tuple[Estimate, ...]:
    if max((n for n, _ in counts), default=0) < 2:
        return ()
    return tuple(estimate_pass_hat_k(counts, score=score, rng=np.random.default_rng(SEED)))


def _by_run(runs: ModelRuns) -> npt.NDArray[np.float64]:
    """Share of right samples, a row per problem and a column per run."""
    problems = sorted({problem for one in runs.scored for problem in one.tallies})
    shares = [
        [one.tallies[problem].share if problem in one.tallies else None for one in runs.scored] for problem in problems
    ]
    return np.array([[np.nan if share is None else share for share in row] for row in shares], dtype=np.float64)
