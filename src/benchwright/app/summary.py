"""From result rows to what is reported: estimates with intervals, counts by outcome and reason, what to look at."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchwright.core.controls import ControlRun
from benchwright.core.runs import Estimate, ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason
from benchwright.stats.estimates import estimate_pass_at_k
from benchwright.stats.intervals import SEED
from benchwright.stats.laziness import Laziness, ProblemFacts, laziness

_SLOWEST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What a set of rows says."""

    problems: int
    attempts: int
    """Samples graded, missing ones not counted."""
    solved: int
    """Problems with at least one passing sample, under the last score of the list (the calibrated one)."""
    estimates: tuple[Estimate, ...]
    """Every k and score, over all problems that have a scored sample."""
    estimates_controlled: tuple[Estimate, ...]
    """The same without problems whose reference fails here; empty when there is none of them or no control run."""
    failed_references: tuple[str, ...]
    uncontrolled: int
    """Problems without a control run in this environment."""
    outcomes: tuple[tuple[Score, str, str, int], ...]
    """Score, outcome, reason, count."""
    missing: tuple[str, ...]
    faults: tuple[str, ...]
    """``problem#sample: detail`` of everything left out of the score."""
    unscored_problems: int
    """Problems all of whose samples are faults."""
    tampered: tuple[str, ...]
    """``problem#sample: detail`` of what a person should look at."""
    slowest: tuple[tuple[str, float, str], ...]
    cpu_seconds: float
    laziness: Laziness | None = None
    """What left-out imports and constants cost; None unless both scores are there and the stubs are known."""

    def to_plain(self) -> dict[str, Any]:
        """The summary as the fields of ``bw grade --json``."""
        return {
            "problems": self.problems,
            "attempts": self.attempts,
            "solved": self.solved,
            "faults": len(self.faults),
            "estimates": estimates_to_plain(self.estimates),
            "estimates_controlled": estimates_to_plain(self.estimates_controlled),
            "failed_references": list(self.failed_references),
            "uncontrolled_problems": self.uncontrolled,
            "outcomes": [[score.value, outcome, reason, n] for score, outcome, reason, n in self.outcomes],
            "missing": list(self.missing),
            "fault_list": list(self.faults),
            "unscored_problems": self.unscored_problems,
            "tampered": list(self.tampered),
            "slowest": [list(item) for item in self.slowest],
            "cpu_seconds": round(self.cpu_seconds, 3),
            "laziness": None if self.laziness is None else laziness_to_plain(self.laziness),
        }


def estimates_to_plain(estimates: Iterable[Estimate]) -> dict[str, dict[str, Any]]:
    """Estimates by metric name; plain ``pass@k`` is the calibrated score, as BigCodeBench reports it."""
    plain: dict[str, dict[str, Any]] = {}
    for estimate in estimates:
        entry = {name: getattr(estimate, name) for name in ("value", "low", "high", "method", "n", "samples")}
        plain[estimate.metric] = entry
        if estimate.metric.endswith(f"[{Score.CALIBRATED.value}]"):
            plain[f"pass@{estimate.k}"] = entry
    return plain


def laziness_to_plain(found: Laziness) -> dict[str, Any]:
    """Laziness as the field of that name."""
    gap = found.gap
    return {
        **{name: getattr(found, name) for name in ("value", "low", "high", "method", "n", "samples")},
        "tasks": list(found.tasks),
        "gap": {
            "difference": gap.difference,
            "low": gap.low,
            "high": gap.high,
            "p_value": gap.p_value,
            "only_calibrated": gap.only_a,
            "only_extracted": gap.only_b,
            "n": gap.n,
        },
    }


def summarise(
    rows: Sequence[ResultRow],
    scores: Sequence[Score],
    controls: Mapping[str, ControlRun],
    *,
    given_names: Mapping[str, frozenset[str]] | None = None,
) -> Summary:
    """Summarise the rows of one grading.

    Args:
        rows: All of them.
        scores: The scores that were graded, the one that counts last.
        controls: Control runs by problem id.
        given_names: What each problem's stub gives, by problem id; without it there is no laziness to speak of.
    """
    problems = list(dict.fromkeys(row.problem_id for row in rows))
    failed = tuple(p for p in problems if p in controls and not controls[p].reference_passes)
    last = scores[-1]
    ranked = sorted((row for row in rows if row.score is last), key=lambda row: -row.wall_seconds)
    missing = tuple(dict.fromkeys(row.problem_id for row in rows if row.verdict.reason is Reason.MISSING))
    solved = {row.problem_id for row in rows if row.score is last and row.verdict.outcome is Outcome.PASSED}
    counts = Counter((row.score, row.verdict.outcome.value, row.verdict.reason.value) for row in rows)
    return Summary(
        problems=len(problems),
        attempts=sum(1 for row in rows if row.score is last and row.verdict.reason is not Reason.MISSING),
        solved=len(solved),
        estimates=tuple(e for score in scores for e in _estimates(rows, score, frozenset())),
        estimates_controlled=tuple(
            e for score in scores for e in (_estimates(rows, score, frozenset(failed)) if failed else ())
        ),
        failed_references=failed,
        uncontrolled=sum(1 for problem in problems if problem not in controls),
        outcomes=tuple(
            (score, outcome, reason, n)
            for (score, outcome, reason), n in sorted(
                counts.items(), key=lambda item: (list(scores).index(item[0][0]), -item[1])
            )
        ),
        missing=missing,
        faults=_listed(rows, lambda row: row.verdict.outcome is Outcome.FAULT),
        unscored_problems=len(problems) - len(_counts(rows, last, frozenset())),
        tampered=_listed(rows, lambda row: row.verdict.reason is Reason.TAMPERED),
        slowest=tuple(
            (f"{row.problem_id}#{row.sample}", row.wall_seconds, row.verdict.reason.value) for row in ranked[:_SLOWEST]
        ),
        cpu_seconds=sum(row.cpu_seconds for row in rows),
        laziness=None if given_names is None else _laziness(rows, given_names),
    )


def _laziness(rows: Iterable[ResultRow], given_names: Mapping[str, frozenset[str]]) -> Laziness | None:
    """Laziness over all samples that have a verdict under both scores; None when there is none."""
    by_score: dict[Score, dict[tuple[str, int], ResultRow]] = {Score.EXTRACTED: {}, Score.CALIBRATED: {}}
    for row in rows:
        if row.score in by_score and row.verdict.scored:
            by_score[row.score][row.problem_id, row.sample] = row
    counts: dict[str, Counter[str]] = {}
    for key, bare in by_score[Score.EXTRACTED].items():
        helped = by_score[Score.CALIBRATED].get(key)
        if helped is None:
            continue
        count = counts.setdefault(bare.problem_id, Counter())
        passes, passes_helped = (one.verdict.outcome is Outcome.PASSED for one in (bare, helped))
        given = given_names.get(bare.problem_id, frozenset())
        count["samples"] += 1
        count["extracted"] += passes
        count["calibrated"] += passes_helped
        count["lazy"] += passes_helped and not passes and not given.isdisjoint(bare.missing_names)
    facts = [
        ProblemFacts(
            problem_id=problem,
            samples=count["samples"],
            lazy=count["lazy"],
            extracted=count["extracted"],
            calibrated=count["calibrated"],
        )
        for problem, count in counts.items()
    ]
    return laziness(facts, rng=np.random.default_rng(SEED)) if facts else None


def _listed(rows: Iterable[ResultRow], chosen: Callable[[ResultRow], bool]) -> tuple[str, ...]:
    texts = (f"{row.problem_id}#{row.sample}: {row.verdict.detail}" for row in rows if chosen(row))
    return tuple(dict.fromkeys(texts))


def _counts(rows: Iterable[ResultRow], score: Score, left_out: frozenset[str]) -> dict[str, tuple[int, int]]:
    """(scored samples, passing samples) by problem; problems with faults only are not in it."""
    counts: dict[str, tuple[int, int]] = {}
    for row in rows:
        if row.score is score and row.verdict.scored and row.problem_id not in left_out:
            n, c = counts.get(row.problem_id, (0, 0))
            counts[row.problem_id] = (n + 1, c + (row.verdict.outcome is Outcome.PASSED))
    return counts


def _estimates(rows: Sequence[ResultRow], score: Score, left_out: frozenset[str]) -> list[Estimate]:
    """Every k up to the largest number of scored samples, each over the problems that have at least k of them.

    A problem without any sample counts as not solved, whatever the k.
    """
    counts = _counts(rows, score, left_out)
    absent = {row.problem_id for row in rows if row.score is score and row.verdict.reason is Reason.MISSING}
    estimates: list[Estimate] = []
    for k in range(1, max((n for n, _ in counts.values()), default=0) + 1):
        pairs = [(max(n, k) if problem in absent else n, c) for problem, (n, c) in counts.items()]
        enough = [(n, c) for n, c in pairs if n >= k]
        estimates += estimate_pass_at_k(enough, score=score, ks=[k], rng=np.random.default_rng(SEED))
    return estimates
