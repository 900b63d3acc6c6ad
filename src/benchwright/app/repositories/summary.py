"""From the rows of patches to what is reported: the score on all instances, on the kept ones, and the difference."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchwright.core.runs import Estimate, ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason
from benchwright.stats.estimates import estimate_pass_at_k
from benchwright.stats.intervals import SEED

_SLOWEST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The score on some of the instances, under a name."""

    name: str
    """``all``, ``kept``, or the name of a list that the user gave."""
    instances: int
    """How many instances it has, faults included."""
    faults: int
    """How many of them have no scored row, and are not in the estimate."""
    estimate: Estimate | None
    """Over the scored instances; None when there is none."""
    resolved: int
    """Instances with a patch that resolved them."""

    @property
    def share(self) -> float:
        """Resolved instances of all, faults counted as unresolved: what the official harness reports."""
        return self.resolved / self.instances if self.instances else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositorySummary:
    """What a set of rows says."""

    problems: int
    attempts: int
    """Patches graded, missing ones not counted."""
    solved: int
    views: tuple[View, ...]
    excluded: tuple[tuple[str, tuple[str, ...]], ...]
    """Instance left out of the kept ones, and the reasons."""
    mended: tuple[str, ...]
    """Instances that the kept ones judge by a mended test list."""
    outcomes: tuple[tuple[str, str, int], ...]
    """Outcome, reason, count."""
    by_repository: tuple[tuple[str, int, int], ...]
    """Repository, resolved, scored."""
    missing: tuple[str, ...]
    faults: tuple[str, ...]
    tampered: tuple[str, ...]
    dropped_edits: tuple[str, ...]
    """``instance: note`` of edits that were not kept."""
    uncontrolled: tuple[str, ...]
    """Instances without control runs in this environment."""
    slowest: tuple[tuple[str, float, str], ...]
    cpu_seconds: float

    @property
    def difference(self) -> float | None:
        """Share resolved of the kept instances minus that of all, faults counted as unresolved in both."""
        named = {view.name: view for view in self.views}
        full, kept = named.get("all"), named.get("kept")
        return None if full is None or kept is None else kept.share - full.share

    def to_plain(self) -> dict[str, Any]:
        """The summary as part of ``bw grade --json``."""
        return {
            "problems": self.problems,
            "attempts": self.attempts,
            "solved": self.solved,
            "faults": len(self.faults),
            "estimates": {_metric(view): _estimate(view.estimate) for view in self.views if view.estimate},
            "views": {
                view.name: {
                    "instances": view.instances,
                    "faults": view.faults,
                    "resolved": view.resolved,
                    "share": view.share,
                }
                for view in self.views
            },
            "kept_minus_all": self.difference,
            "excluded": {instance: list(reasons) for instance, reasons in self.excluded},
            "mended": list(self.mended),
            "outcomes": [list(entry) for entry in self.outcomes],
            "by_repository": {repo: {"resolved": good, "scored": n} for repo, good, n in self.by_repository},
            "missing": list(self.missing),
            "fault_details": list(self.faults),
            "tampered": list(self.tampered),
            "dropped_edits": list(self.dropped_edits),
            "uncontrolled": list(self.uncontrolled),
            "slowest": [list(entry) for entry in self.slowest],
            "cpu_seconds": round(self.cpu_seconds, 3),
        }


def summarise_patches(
    rows: Sequence[ResultRow],
    *,
    repositories: Mapping[str, str],
    views: Mapping[str, Sequence[ResultRow]],
    excluded: Mapping[str, Sequence[str]],
    mended: Sequence[str],
    uncontrolled: Sequence[str],
) -> RepositorySummary:
    """Summarise the rows of one grading.

    Args:
        rows: One per instance and sample.
        repositories: Repository by instance id.
        views: Further denominators by name: some of the rows, those of mended instances judged by the mended lists.
        excluded: Reasons by id of the instances that the exclusion lists name.
        mended: Instances whose test lists were mended in some view.
        uncontrolled: Instances without control runs.
    """
    ids = tuple(dict.fromkeys(row.problem_id for row in rows))
    counts = Counter((row.verdict.outcome.value, row.verdict.reason.value) for row in rows)
    scored = [row for row in rows if row.verdict.scored]
    repos = sorted({repositories[problem] for problem in ids})
    return RepositorySummary(
        problems=len(ids),
        attempts=sum(row.verdict.reason is not Reason.MISSING for row in rows),
        solved=len({row.problem_id for row in rows if row.verdict.outcome is Outcome.PASSED}),
        views=tuple(_view(name, chosen) for name, chosen in {"all": rows, **views}.items()),
        mended=tuple(problem for problem in mended if problem in set(ids)),
        excluded=tuple((problem, tuple(excluded[problem])) for problem in ids if problem in excluded),
        outcomes=tuple((outcome, reason, n) for (outcome, reason), n in counts.most_common()),
        by_repository=tuple((repo, *_resolved(scored, repositories, repo)) for repo in repos),
        missing=tuple(row.problem_id for row in rows if row.verdict.reason is Reason.MISSING),
        faults=_listed(row for row in rows if row.verdict.outcome is Outcome.FAULT),
        tampered=_listed(row for row in rows if row.verdict.reason is Reason.TAMPERED),
        dropped_edits=tuple(f"{row.problem_id}: {note}" for row in rows for note in row.notes if " not kept: " in note),
        uncontrolled=tuple(problem for problem in uncontrolled if problem in set(ids)),
        slowest=tuple(
            (row.problem_id, row.wall_seconds, row.verdict.reason.value)
            for row in sorted(rows, key=lambda row: -row.wall_seconds)[:_SLOWEST]
        ),
        cpu_seconds=sum(row.cpu_seconds for row in rows),
    )


def _view(name: str, rows: Sequence[ResultRow]) -> View:
    counts: dict[str, tuple[int, int]] = {}
    for row in rows:
        if row.verdict.scored:
            n, c = counts.get(row.problem_id, (0, 0))
            counts[row.problem_id] = (n + 1, c + (row.verdict.outcome is Outcome.PASSED))
    present = {row.problem_id for row in rows}
    estimates = (
        estimate_pass_at_k(list(counts.values()), score=Score.PATCH, ks=[1], rng=np.random.default_rng(SEED))
        if counts
        else []
    )
    return View(
        name=name,
        instances=len(present),
        faults=len(present) - len(counts),
        estimate=estimates[0] if estimates else None,
        resolved=len({row.problem_id for row in rows if row.verdict.outcome is Outcome.PASSED}),
    )


def _resolved(scored: Sequence[ResultRow], repositories: Mapping[str, str], repo: str) -> tuple[int, int]:
    own = [row for row in scored if repositories[row.problem_id] == repo]
    return sum(row.verdict.outcome is Outcome.PASSED for row in own), len(own)


def _listed(rows: Iterable[ResultRow]) -> tuple[str, ...]:
    return tuple(f"{row.problem_id}: {row.verdict.detail}" for row in rows)


def _metric(view: View) -> str:
    return "pass@1" if view.name == "all" else f"pass@1[{view.name}]"


def _estimate(estimate: Estimate | None) -> dict[str, Any]:
    assert estimate is not None
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "method": estimate.method,
        "n": estimate.n,
    }
