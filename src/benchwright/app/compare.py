"""Is A better than B?  Two gradings of the same problems, compared problem by problem: behind ``bw compare``."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchwright.app.results import differing_settings
from benchwright.core.errors import UsageError
from benchwright.core.evaluation import Evaluation, incomparable
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason
from benchwright.stats.paired import PairedDifference, paired_difference
from benchwright.store.folder import ResultsFolder

_SEED = 20240622  # any fixed number: the same rows must give the same interval
_SURE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one of the two gradings brings."""

    folder: Path
    model: str
    variant: str
    mean: float
    """Mean over the compared problems of the share of samples that pass."""
    samples: int
    """Largest number of samples of a compared problem."""
    tasks_ahead: tuple[str, ...]
    """Compared problems on which this side is ahead: which it alone solves, with one sample each."""
    not_in_other: tuple[str, ...]
    """Problems that only this side has; not compared."""
    unscored: tuple[str, ...]
    """Problems all of whose samples are faults on this side; not compared."""
    faults: tuple[str, ...]
    """``problem#sample: detail`` of every fault on this side; such a sample counts on no side."""
    missing: tuple[str, ...]
    """Compared problems without a sample, counted as not solved."""
    flags: tuple[str, ...] = ()
    """What sets this side's score apart, such as ``base_model_on_instruct``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How two gradings compare."""

    benchmark: str
    version: str
    score: Score
    a: Side
    b: Side
    paired: PairedDifference
    """A minus B."""
    settings: tuple[tuple[str, Any, Any], ...]
    """Name, value in A, value in B of every setting that differs."""
    incomparable: tuple[str, ...] = ()
    """Why the two evaluations may not be ranked together, one clause each; only a forced comparison has any."""

    @property
    def forced(self) -> bool:
        """Whether the comparison would have been refused."""
        return bool(self.incomparable)

    @property
    def greedy(self) -> bool:
        """Whether both sides have one sample for each problem, so that the test is McNemar's and not the sign test."""
        return max(self.a.samples, self.b.samples) == 1

    @property
    def shown(self) -> bool:
        """Whether the interval leaves out 0."""
        return not self.paired.low <= 0 <= self.paired.high

    @property
    def sentence(self) -> str:
        """The result in one plain sentence."""
        found = self.paired
        numbers = f"p = {_p_value(found.p_value)}"
        if found.only_a == found.only_b == 0:  # resampling nothing but zeros would claim an interval of no width
            return f"No difference shown at n = {found.n} (no problem came out differently)."
        if not self.shown:
            return (
                f"No difference shown at n = {found.n} (A minus B {_points(found.difference, sign=True)} points "
                f"[{_points(found.low, sign=True)}, {_points(found.high, sign=True)}], {numbers})."
            )
        better, low, high = ("A", found.low, found.high) if found.difference > 0 else ("B", -found.high, -found.low)
        doubt = "; the exact test alone would not show it" if found.p_value >= _SURE else ""
        return (
            f"{better} solves {_points(abs(found.difference))} points more [{_points(low)}, {_points(high)}], "
            f"{numbers}, n = {found.n}{doubt}."
        )

    def to_plain(self) -> dict[str, Any]:
        """The comparison as the object of ``bw compare --json``."""
        found = self.paired
        return {
            "benchmark": self.benchmark,
            "version": self.version,
            "score": self.score.value,
            "model_a": self.a.model,
            "model_b": self.b.model,
            "difference": found.difference,
            "low": found.low,
            "high": found.high,
            "p_value": found.p_value,
            "test": "mcnemar" if self.greedy else "sign",
            "only_a": found.only_a,
            "only_b": found.only_b,
            "n": found.n,
            "sentence": self.sentence,
            "mean_a": self.a.mean,
            "mean_b": self.b.mean,
            "k": 1,
            "samples_a": self.a.samples,
            "samples_b": self.b.samples,
            "tasks_only_a": list(self.a.tasks_ahead),
            "tasks_only_b": list(self.b.tasks_ahead),
            "flags_a": list(self.a.flags),
            "flags_b": list(self.b.flags),
            "settings": [list(setting) for setting in self.settings],
            "forced": self.forced,
            "incomparable": list(self.incomparable),
            "left_out": {
                "not_in_b": list(self.a.not_in_other),
                "not_in_a": list(self.b.not_in_other),
                "unscored_a": list(self.a.unscored),
                "unscored_b": list(self.b.unscored),
            },
            "faults_a": list(self.a.faults),
            "faults_b": list(self.b.faults),
            "missing_a": list(self.a.missing),
            "missing_b": list(self.b.missing),
        }


def compare(path_a: Path, path_b: Path, score: Score | None = None, *, force: bool = False) -> Comparison:
    """Compare two finished gradings of the same problems; nothing is executed.

    Args:
        path_a: Folder that ``bw grade`` or ``bw run`` wrote.
        path_b: The other one.
        score: Which score; without it the calibrated one if both have it, otherwise the last that both have.
        force: Compare results of agents whose evaluations are not comparable all the same.

    Raises:
        UsageError: They are not of the same problems, have no score in common, or their evaluations may not be ranked
            together.
    """
    folder_a, folder_b = ResultsFolder(path_a), ResultsFolder(path_b)
    manifest_a, manifest_b = folder_a.finished_manifest(), folder_b.finished_manifest()
    _refuse_other_benchmark(manifest_a, manifest_b)
    score = _common_score(manifest_a, manifest_b, score)
    a, b = _Rows.read(folder_a, score), _Rows.read(folder_b, score)
    common = [problem for problem in a.shares if problem in b.shares]
    both = [problem for problem in a.problems if problem in b.problems]
    _refuse_other_data(manifest_a, manifest_b, both)
    reasons = _incomparable(path_a, manifest_a, path_b, manifest_b)
    if reasons and not force:
        raise UsageError(f"A and B are not comparable: {'; '.join(reasons)}; give --force to compare them even so.")
    if not common:
        reason = "every problem that both have is a fault on one side" if both else "they have no problem in common"
        raise UsageError(f"{path_a} and {path_b} cannot be compared: {reason}; grade both on the same problems.")
    paired = paired_difference(
        [a.shares[problem] for problem in common],
        [b.shares[problem] for problem in common],
        rng=np.random.default_rng(_SEED),
    )
    return Comparison(
        benchmark=manifest_a["benchmark"],
        version=manifest_a["version"],
        score=score,
        a=_side(path_a, manifest_a, a, b, common),
        b=_side(path_b, manifest_b, b, a, common),
        paired=paired,
        settings=differing_settings(manifest_a, manifest_b),
        incomparable=reasons,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """The rows of one side under the score compared."""

    problems: Mapping[str, None]
    """All of them, in file order."""
    shares: Mapping[str, float]
    """Share of passing samples among the scored ones, by problem; problems with faults only are not in it."""
    samples: Mapping[str, int]
    """Scored samples by problem."""
    faults: tuple[str, ...]
    missing: tuple[str, ...]

    @classmethod
    def read(cls, folder: ResultsFolder, score: Score) -> "_Rows":
        rows = [row for row in folder.rows() if row.score is score]
        scored: dict[str, list[bool]] = {}
        for row in rows:
            if row.verdict.scored:
                scored.setdefault(row.problem_id, []).append(row.verdict.outcome is Outcome.PASSED)
        return cls(
            problems=dict.fromkeys(row.problem_id for row in rows),
            shares={problem: sum(passes) / len(passes) for problem, passes in scored.items()},
            samples={problem: len(passes) for problem, passes in scored.items()},
            faults=tuple(_named(rows)),
            missing=tuple(row.problem_id for row in rows if row.verdict.reason is Reason.MISSING),
        )


def _named(rows: Iterable[ResultRow]) -> Iterable[str]:
    return (f"{row.problem_id}#{row.sample}: {row.verdict.detail}" for row in rows if not row.verdict.scored)


def _side(path: Path, manifest: Mapping[str, Any], own: _Rows, other: _Rows, common: list[str]) -> Side:
    return Side(
        folder=path,
        model=str(manifest.get("model") or "unnamed"),
        variant=str(manifest.get("variant")),
        mean=float(np.mean([own.shares[problem] for problem in common])),
        samples=max(own.samples[problem] for problem in common),
        tasks_ahead=tuple(problem for problem in common if own.shares[problem] > other.shares[problem]),
        not_in_other=tuple(problem for problem in own.problems if problem not in other.problems),
        unscored=tuple(problem for problem in own.problems if problem in other.problems and problem not in own.shares),
        faults=own.faults,
        missing=tuple(problem for problem in own.missing if problem in other.shares),
        flags=tuple(manifest.get("flags", ())),
    )


def _refuse_other_benchmark(manifest_a: Mapping[str, Any], manifest_b: Mapping[str, Any]) -> None:
    name_a, name_b = manifest_a["benchmark"], manifest_b["benchmark"]
    if name_a != name_b:
        raise UsageError(f"A is a grading of {name_a}, B of {name_b}; only gradings of one benchmark can be compared.")


def _refuse_other_data(manifest_a: Mapping[str, Any], manifest_b: Mapping[str, Any], both: list[str]) -> None:
    """Refuse different data.  A subset has another digest than the whole, but its problems have the same ones."""
    if manifest_a["data_digest"] == manifest_b["data_digest"]:
        return
    digests_a, digests_b = (manifest.get("problem_digests") or {} for manifest in (manifest_a, manifest_b))
    changed = [problem for problem in both if problem not in digests_a or digests_a[problem] != digests_b.get(problem)]
    versions = [manifest["version"] for manifest in (manifest_a, manifest_b)]
    subsets = [manifest["subset"] for manifest in (manifest_a, manifest_b)]
    if versions[0] == versions[1] and subsets[0] != subsets[1] and not changed:
        return
    example = f", for one {changed[0]}" if changed else ""
    raise UsageError(
        f"A was graded on {manifest_a['benchmark']} {versions[0]} ({subsets[0]}), B on {versions[1]} ({subsets[1]}), "
        f"and the data differs{example}; grade both with the same --data-version or --dataset."
    )


def _incomparable(
    path_a: Path, manifest_a: Mapping[str, Any], path_b: Path, manifest_b: Mapping[str, Any]
) -> tuple[str, ...]:
    """Why the evaluations of two results may not be ranked together; nothing unless both have one."""
    a, b = _evaluation(path_a, manifest_a), _evaluation(path_b, manifest_b)
    return () if a is None or b is None else incomparable(a, b)


def _evaluation(path: Path, manifest: Mapping[str, Any]) -> Evaluation | None:
    data = manifest.get("evaluation")
    try:
        return None if data is None else Evaluation.from_plain(data)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"What {path} says of its evaluation cannot be read ({error}); compare it with the version of benchwright "
            f"that made it."
        ) from error


def _common_score(manifest_a: Mapping[str, Any], manifest_b: Mapping[str, Any], wanted: Score | None) -> Score:
    scores_a, scores_b = ([Score(name) for name in manifest["scores"]] for manifest in (manifest_a, manifest_b))
    common = [score for score in scores_a if score in scores_b]
    if wanted is None:
        if not common:
            raise UsageError(
                f"A has the scores {_listed(scores_a)}, B has {_listed(scores_b)}: none in common; grade one of them "
                f"again with the other's."
            )
        return Score.CALIBRATED if Score.CALIBRATED in common else common[-1]
    for name, scores in (("A", scores_a), ("B", scores_b)):
        if wanted not in scores:
            raise UsageError(
                f"{name} has no score {wanted.value}, only {_listed(scores)}; choose another with --score, or grade it "
                f"again."
            )
    return wanted


def _listed(scores: Iterable[Score]) -> str:
    return ", ".join(score.value for score in scores)


def _points(share: float, *, sign: bool = False) -> str:
    value = round(100 * share, 1) + 0.0  # no minus in front of nothing
    return f"{value:+.1f}" if sign else f"{value:.1f}"


def _p_value(value: float) -> str:
    return "1" if value == 1 else f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"
