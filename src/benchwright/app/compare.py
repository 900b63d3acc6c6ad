"""Is A better than B?  Graded runs of the same problems, compared problem by problem: behind ``bw compare``."""

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchwright.app.graded import Graded, GradedRows, repositories_of
from benchwright.app.results import differing_settings
from benchwright.app.samples import answers_in, same_answers
from benchwright.core.errors import UsageError
from benchwright.core.evaluation import incomparable
from benchwright.core.ordering import natural
from benchwright.core.runs import Score
from benchwright.leaderboard.policy import NEVER_RANKED
from benchwright.stats.intervals import SEED
from benchwright.stats.paired import PairedDifference, paired_difference, permutation_p_value
from benchwright.stats.power import (
    SIGNIFICANCE,
    TWO_POINTS,
    problems_needed,
    smallest_clustered_difference,
    smallest_difference,
)
from benchwright.store.folder import ResultsFolder


class Cluster(enum.StrEnum):
    """What makes problems resemble each other, so that they are resampled together."""

    REPOSITORY = "repository"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one of the two gradings brings."""

    where: str
    """What was given, as messages call it."""
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
    entry: str = ""
    """Its name in the store; empty for a folder."""
    source: str = ""
    """Where it was imported from; empty for own results."""

    @property
    def never_ranked(self) -> bool:
        """Whether one of its flags keeps it out of every ranking."""
        return not NEVER_RANKED.keys().isdisjoint(self.flags)


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
    permutation_p: float
    """Chance of a difference this large if it were open which result is whose, by problem or by cluster."""
    detectable: float | None
    """The smallest true difference that so many problems (or clusters) show in four of five cases, the two disagreeing
    as much as here; None when they show none, or never disagree."""
    two_points_take: int | None
    """Problems after which a true difference of two points shows in four of five cases, the two disagreeing as much as
    here; None with clusters, and when they never disagree."""
    adjusted_p: float | None = None
    """Holm's p-value among several comparisons; None for a single one."""

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
        """Whether the interval leaves out 0; a single problem shows nothing, whatever its interval."""
        return self.paired.n > 1 and self.paired.shown

    @property
    def p_value(self) -> float:
        """The p-value that the sentence has: McNemar's, with clusters that of their permutation."""
        return self.paired.p_value if self.paired.clusters is None else self.permutation_p

    @property
    def test(self) -> str:
        """Which test gives the p-value."""
        return "permutation" if self.paired.clusters is not None else "mcnemar" if self.greedy else "sign"

    @property
    def sentence(self) -> str:
        """The result in one plain sentence."""
        found = self.paired
        numbers = f"p = {p_text(self.p_value)}"
        if found.n == 1:
            return "No difference shown at n = 1: a single problem shows nothing."
        if found.only_a == found.only_b == 0:  # resampling nothing but zeros would claim an interval of no width
            return f"No difference shown at n = {found.n} (no problem came out differently)."
        if not self.shown:
            return (
                f"No difference shown at n = {found.n} (A minus B {_points(found.difference, sign=True)} points "
                f"[{_points(found.low, sign=True)}, {_points(found.high, sign=True)}], {numbers})."
            )
        better, low, high = ("A", found.low, found.high) if found.difference > 0 else ("B", -found.high, -found.low)
        test = self.test if self.test == "permutation" else "exact"
        doubt = f"; the {test} test alone would not show it" if self.p_value >= SIGNIFICANCE else ""
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
            "p_value": self.p_value,
            "test": self.test,
            "only_a": found.only_a,
            "only_b": found.only_b,
            "n": found.n,
            "interval": found.method,
            "clusters": found.clusters,
            "permutation_p": self.permutation_p,
            "adjusted_p": self.adjusted_p,
            "shown": self.shown,
            "detectable": self.detectable,
            "two_points_take": self.two_points_take,
            "sentence": self.sentence,
            "mean_a": self.a.mean,
            "mean_b": self.b.mean,
            "k": 1,
            "entry_a": self.a.entry or None,
            "entry_b": self.b.entry or None,
            "source_a": self.a.source or None,
            "source_b": self.b.source or None,
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


def compare(
    path_a: Path, path_b: Path, score: Score | None = None, *, force: bool = False, cluster: Cluster | None = None
) -> Comparison:
    """Compare two finished gradings in folders; see :func:`compare_graded`."""
    a, b = Graded.of_folder(path_a), Graded.of_folder(path_b)
    answers_a, answers_b = (answers_in(ResultsFolder(path).content) for path in (path_a, path_b))
    return compare_graded(
        a,
        b,
        score,
        force=force,
        cluster=cluster,
        answers_alike=same_answers(answers_a, answers_b),
    )


def compare_graded(
    a: Graded,
    b: Graded,
    score: Score | None = None,
    *,
    force: bool = False,
    cluster: Cluster | None = None,
    answers_alike: bool = False,
) -> Comparison:
    """Compare two graded runs of the same problems; nothing is executed.

    Args:
        a: One of them.
        b: The other one.
        score: Which score; without it the calibrated one if both have it, otherwise the last that both have.
        force: Compare results of agents whose evaluations are not comparable all the same.
        cluster: What problems are resampled together by; None takes each problem as independent.
        answers_alike: Whether both have the same answers, so that files of them that differ are not told.

    Raises:
        UsageError: They are not of the same problems, have no score in common, or their evaluations may not be ranked
            together.
    """
    _refuse_other_benchmark(a.manifest, b.manifest)
    score = _common_score(a.scores, b.scores, score)
    rows_a, rows_b = a.under(score), b.under(score)
    common = [problem for problem in rows_a.shares if problem in rows_b.shares]
    both = [problem for problem in rows_a.problems if problem in rows_b.problems]
    _refuse_other_data(a.manifest, b.manifest, both)
    one, other = a.evaluation, b.evaluation
    reasons = () if one is None or other is None else incomparable(one, other)
    if reasons and not force:
        raise UsageError(f"A and B are not comparable: {'; '.join(reasons)}; give --force to compare them even so.")
    if not common:
        reason = "every problem that both have is a fault on one side" if both else "they have no problem in common"
        raise UsageError(f"{a.where} and {b.where} cannot be compared: {reason}; grade both on the same problems.")
    shares_a, shares_b = ([rows.shares[problem] for problem in common] for rows in (rows_a, rows_b))
    clusters = None if cluster is None else repositories_of(common, (a, b))
    paired = paired_difference(shares_a, shares_b, rng=np.random.default_rng(SEED), clusters=clusters)
    return Comparison(
        benchmark=a.manifest["benchmark"],
        version=a.manifest["version"],
        score=score,
        a=_side(a, rows_a, rows_b, common),
        b=_side(b, rows_b, rows_a, common),
        paired=_honest(paired),
        settings=differing_settings(a.manifest, b.manifest, answers_alike=answers_alike),
        incomparable=reasons,
        permutation_p=permutation_p_value(shares_a, shares_b, rng=np.random.default_rng(SEED), clusters=clusters),
        detectable=_detectable(np.subtract(shares_a, shares_b), clusters),
        two_points_take=None if clusters is not None else _two_points_take(np.subtract(shares_a, shares_b)),
    )


def _honest(paired: PairedDifference) -> PairedDifference:
    """A single problem resampled gives an interval of no width; nothing is known of others, so it is the widest."""
    return paired if paired.n > 1 else replace(paired, low=-1.0, high=1.0)


def _detectable(gains: npt.NDArray[np.float64], clusters: Sequence[str] | None) -> float | None:
    if clusters is not None:
        return smallest_clustered_difference(gains, clusters)
    # With several samples a problem's difference is a fraction; its square takes the place of disagreeing or not.
    disagreement = float((gains**2).mean())
    return smallest_difference(gains.size, disagreement) if disagreement else None


def _two_points_take(gains: npt.NDArray[np.float64]) -> int | None:
    disagreement = float((gains**2).mean())
    return problems_needed(TWO_POINTS, disagreement) if disagreement >= TWO_POINTS else None


def _side(side: Graded, own: GradedRows, other: GradedRows, common: list[str]) -> Side:
    return Side(
        where=side.where,
        model=side.model,
        variant=str(side.manifest.get("variant")),
        mean=float(np.mean([own.shares[problem] for problem in common])),
        samples=max(own.samples[problem] for problem in common),
        tasks_ahead=_in_order(problem for problem in common if own.shares[problem] > other.shares[problem]),
        not_in_other=_in_order(problem for problem in own.problems if problem not in other.problems),
        unscored=_in_order(
            problem for problem in own.problems if problem in other.problems and problem not in own.shares
        ),
        faults=_in_order(own.faults),
        missing=_in_order(problem for problem in own.missing if problem in other.shares),
        flags=tuple(side.manifest.get("flags", ())),
        entry=side.entry,
        source=side.source,
    )


def _in_order(items: Iterable[str]) -> tuple[str, ...]:
    """Numbers in names by their size: 2 before 12."""
    return tuple(sorted(items, key=natural))


def _refuse_other_benchmark(manifest_a: Mapping[str, Any], manifest_b: Mapping[str, Any]) -> None:
    name_a, name_b = manifest_a["benchmark"], manifest_b["benchmark"]
    if name_a != name_b:
        raise UsageError(f"A is a grading of {name_a}, B of {name_b}; only gradings of one benchmark can be compared.")


def _refuse_other_data(manifest_a: Mapping[str, Any], manifest_b: Mapping[str, Any], both: list[str]) -> None:
    """Refuse different data.  A subset has another digest than the whole, but its problems have the same ones.

    An import may not state which data it is on; that is told with the settings, and nothing is refused for it.
    """
    if manifest_a["data_digest"] == manifest_b["data_digest"] or not manifest_a["data_digest"]:
        return
    if not manifest_b["data_digest"]:
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


def _common_score(scores_a: Sequence[Score], scores_b: Sequence[Score], wanted: Score | None) -> Score:
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


def p_text(value: float) -> str:
    """A p-value as it is printed everywhere: two digits that count, such as 0.031 or 1.1e-05."""
    return f"{value:.2g}"
