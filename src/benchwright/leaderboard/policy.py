"""Which runs may stand in one table, and why the others may not.

Two runs may when they answered the same problems under the same conditions: benchmark, data, subset, variant, score,
scaffold, budget, number of samples, and, for agents, evaluations that `core.evaluation.incomparable` does not keep
apart.  Where runs are compared on common problems, another subset is no obstacle if these problems are the same ones
by their digests.  That rule is about pairs; a table is a set of runs in which every pair passes.  Own runs and imports
do not share a table unless asked to, and runs that lack problems stand apart.
"""

import enum
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.evaluation import VERSIONS, Evaluation, EvaluationVersion, incomparable
from benchwright.core.results import UNSTATED, Origin, ScoredRun, StoredRun
from benchwright.core.runs import Score

NEVER_RANKED = {
    "base_model_on_instruct": "base models cannot follow instructions, so their scores on such prompts are not ranked",
}
"""Flags of a run that keep it out of the tables of others, and why."""

NO_VERSION = ("", UNSTATED)
"""Versions of imports whose source does not say on which data it is."""


class Imports(enum.StrEnum):
    """What becomes of imports."""

    WITHOUT = "without"
    """They stand in tables of their own, one for every kind of source."""
    WITH = "with"
    """They stand among own runs, each flagged."""
    ONLY = "only"
    """Own runs are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the user and the benchmark say of comparability."""

    imports: Imports = Imports.WITHOUT
    comparable_versions: tuple[frozenset[str], ...] = ()
    """Versions of the data that count as one."""
    expected: frozenset[str] = frozenset()
    """Ids of all problems of the subset; empty when they are not known."""
    common: bool = False
    """Compare on the problems that all runs have, instead of keeping runs apart that lack some."""
    evaluations: Sequence[EvaluationVersion] = VERSIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Runs that may stand in one table."""

    runs: tuple[ScoredRun, ...]
    problems: tuple[str, ...]
    """Sorted ids of the problems to compare them on; every run was asked all of these."""
    reason: str = ""
    """Why they are not in the main table, in one sentence; empty for the main one."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Everything about a run that decides with which others it may stand in one table."""

    imported: str
    """Kind of the source of an import; empty for own runs."""
    benchmark: str
    version: str
    data_digest: str
    problem_digests: str
    """Digest over those of all its problems; empty where they are not recorded."""
    subset: str
    variant: str
    score: Score
    scaffold: str
    several_samples: bool
    rules: str
    """By which rules patches were judged; empty for functions and where it is not recorded."""
    never_ranked: tuple[str, ...]
    evaluation: Evaluation | None = field(repr=False)
    digest_of_each: Mapping[str, str] = field(repr=False, compare=False, default_factory=dict)
    """Digest of each problem by its id, as `problem_digests` sums them up."""

    @classmethod
    def of(cls, scored: ScoredRun) -> "Conditions":
        """The conditions of a run under one score; raises `UsageError` for an evaluation that cannot be read."""
        run = scored.run
        return cls(
            imported=run.source.kind if run.origin is Origin.IMPORTED and run.source else "",
            benchmark=run.benchmark,
            version=run.version,
            data_digest=run.data_digest,
            problem_digests=digest_of(digests) if (digests := _problem_digests(run.manifest)) else "",
            subset=run.subset,
            variant=run.variant,
            score=scored.score,
            scaffold=run.scaffold,
            several_samples=run.samples > 1,
            rules=str(run.manifest.get("rules") or ""),
            never_ranked=tuple(flag for flag in run.flags if flag in NEVER_RANKED),
            evaluation=evaluation_of(run),
            digest_of_each=_problem_digests(run.manifest),
        )


def _problem_digests(manifest: Mapping[str, object]) -> Mapping[str, str]:
    digests = manifest.get("problem_digests")
    return digests if isinstance(digests, dict) else {}


def evaluation_of(run: StoredRun) -> Evaluation | None:
    """How an agent's result came about; None for other results.  Raises `UsageError` when it cannot be read."""
    if run.evaluation is None:
        return None
    try:
        return Evaluation.from_plain(run.evaluation)
    except (TypeError, ValueError, UsageError) as error:
        raise UsageError(
            f"What {run.model} ({run.entry[:12]}) says of its evaluation cannot be read ({error}); use the version of "
            f"benchwright that made it."
        ) from error


def reasons_apart(a: Conditions, b: Conditions, policy: Policy) -> tuple[str, ...]:
    """Why two runs, called A and B, may not stand in one table, one plain clause each; empty when they may."""
    return tuple(_reasons(a, b, policy))


def _reasons(a: Conditions, b: Conditions, policy: Policy) -> Iterator[str]:
    for name in ("benchmark", "subset", "variant", "score", "rules"):
        one, other = getattr(a, name), getattr(b, name)
        if name == "subset" and _part_of_the_other(a, b, policy):
            continue
        if one != other and (name != "rules" or (one and other)):
            yield f"A is of {name} {one}, B of {other}"
    yield from _data_apart(a, b, policy)
    if policy.imports is not Imports.WITH and a.imported != b.imported:
        yield f"A is {_origin(a)}, B {_origin(b)}"
    for name, side in (("A", a), ("B", b)):
        for flag in side.never_ranked:
            if flag not in (b if side is a else a).never_ranked:
                yield f"{name} is flagged {flag}: {NEVER_RANKED[flag]}"
    yield from _making_apart(a, b, policy)


def _part_of_the_other(a: Conditions, b: Conditions, policy: Policy) -> bool:
    """Whether runs of two subsets may be compared on common problems: these are known to be the same ones."""
    if not policy.common or a.subset == b.subset:
        return False
    common = a.digest_of_each.keys() & b.digest_of_each.keys()
    return bool(common) and all(a.digest_of_each[one] == b.digest_of_each[one] for one in common)


def _origin(side: Conditions) -> str:
    return f"imported ({side.imported})" if side.imported else "graded by benchwright"


def _data_apart(a: Conditions, b: Conditions, policy: Policy) -> Iterator[str]:
    """Different versions, unless they count as one or their problems are the same ones; other data of one version.

    An import that does not state its version stands among own results when imports are asked for, and is flagged.
    """
    if _part_of_the_other(a, b, policy):  # a part has another digest than the whole
        return
    digests = ((a.data_digest, b.data_digest), (a.problem_digests, b.problem_digests))
    if a.version == b.version:
        if all((a.data_digest, b.data_digest)) and not any(one and one == other for one, other in digests):
            yield f"A and B both call their data version {a.version}, and it differs"
        return
    if any({a.version, b.version} <= versions for versions in policy.comparable_versions):
        return
    unsaid = [side for side in (a, b) if side.imported and side.version in NO_VERSION]
    if unsaid and (policy.imports is Imports.WITH or len(unsaid) == 2):
        return
    if any(one and one == other for one, other in digests):
        return
    yield f"A is on version {a.version or 'unknown'} of the data, B on {b.version or 'unknown'}"


def _making_apart(a: Conditions, b: Conditions, policy: Policy) -> Iterator[str]:
    """How the answers were made; a source's own list ranks whole systems, so among imports it keeps nothing apart."""
    if a.imported and b.imported:
        return
    if a.evaluation is not None and b.evaluation is not None:
        yield from incomparable(a.evaluation, b.evaluation, policy.evaluations)
        return
    if a.scaffold != b.scaffold:
        yield f"A is of scaffold {a.scaffold or 'unknown'}, B of {b.scaffold or 'unknown'}"
    elif (a.evaluation is None) is not (b.evaluation is None):
        yield f"how {'A' if a.evaluation is None else 'B'} came about is not recorded"
    if a.several_samples != b.several_samples:
        one, several = ("A", "B") if b.several_samples else ("B", "A")
        yield f"{one} has one sample for each problem, {several} several"


def arrange(runs: Sequence[ScoredRun], policy: Policy) -> tuple[Group, ...]:
    """Runs put into tables, the main one first; every run is in exactly one of them.

    The main table is, of those with an own run of the newest evaluation (with any own run, with any run), the one
    with most runs; ties go to the smallest entry.  The others follow by the same rule.  Raises `UsageError` for an
    evaluation that cannot be read.
    """
    by_conditions: dict[Conditions, list[ScoredRun]] = {}
    for scored in sorted(runs, key=lambda one: one.run.entry):
        by_conditions.setdefault(Conditions.of(scored), []).append(scored)
    judge = _Judge(policy)
    groups: list[Group] = []
    main: Sequence[Conditions] = ()
    while by_conditions:
        chosen = _largest(by_conditions, judge)
        reason = _reason(main, chosen, judge) if main else ""
        main = main or chosen
        together = [scored for conditions in chosen for scored in by_conditions.pop(conditions)]
        groups += _by_coverage(together, policy, reason)
    return tuple(groups)


class _Judge:
    """The rule for pairs, each asked once."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._known: dict[tuple[Conditions, Conditions], tuple[str, ...]] = {}

    def reasons(self, a: Conditions, b: Conditions) -> tuple[str, ...]:
        if (a, b) not in self._known:
            self._known[a, b] = reasons_apart(a, b, self.policy)
        return self._known[a, b]

    def newness(self, conditions: Conditions) -> tuple[bool, int]:
        """Own before imported, then by the place of the evaluation's version; what has none is the oldest."""
        versions = [version.version for version in self.policy.evaluations]
        version = conditions.evaluation and conditions.evaluation.version
        return not conditions.imported, versions.index(version) if version in versions else -1


def _largest(by_conditions: Mapping[Conditions, Sequence[ScoredRun]], judge: _Judge) -> list[Conditions]:
    """Conditions of the next table: all pairs among them may stand together."""

    def size(conditions: Sequence[Conditions]) -> int:
        return sum(len(by_conditions[one]) for one in conditions)

    # Many runs under equal conditions first, so that a single odd one cannot keep them out of the table.
    order = sorted(by_conditions, key=lambda one: (-len(by_conditions[one]), by_conditions[one][0].run.entry))
    ranked = [one for one in order if not one.never_ranked] or order
    newest = max(judge.newness(one) for one in ranked)
    found: list[Conditions] = []
    for seed in (one for one in ranked if judge.newness(one) == newest):
        together = [seed]
        for one in order:
            if one is not seed and not any(judge.reasons(other, one) for other in together):
                together.append(one)
        if size(together) > size(found):
            found = together
    return found


def _reason(main: Sequence[Conditions], others: Sequence[Conditions], judge: _Judge) -> str:
    """What keeps these runs out of the main table, by the first of them that cannot stand with one in there."""
    pairs = ((a, b) for b in others for a in main)
    clauses = next((found for a, b in pairs if (found := judge.reasons(a, b))), ())
    return f"Not comparable with the main table (A there, B here): {'; '.join(clauses)}."


def _by_coverage(runs: Sequence[ScoredRun], policy: Policy, reason: str) -> Iterator[Group]:
    """The runs with all problems, then those that lack some."""
    common = frozenset.intersection(*(frozenset(one.tallies) for one in runs))
    if policy.common and common:
        notes = (*_subsets_note(runs), *_common_note(runs, common))
        yield Group(runs=tuple(runs), problems=tuple(sorted(common)), reason=reason, notes=notes)
        return
    problems = _task_set(runs, policy.expected)
    whole = tuple(one for one in runs if problems <= one.tallies.keys())
    notes = _common_note(whole, problems)
    if policy.expected and len(problems) < len(policy.expected):
        notes += (f"These are {len(problems)} of the {len(policy.expected)} problems of the subset.",)
    yield Group(runs=whole, problems=tuple(sorted(problems)), reason=reason, notes=notes)
    yield from _partial([one for one in runs if not problems <= one.tallies.keys()], len(problems), reason)


def _task_set(runs: Sequence[ScoredRun], expected: frozenset[str]) -> frozenset[str]:
    """All problems of the subset if some run has them, otherwise those that most runs were asked, the most of them."""
    if expected and any(expected <= one.tallies.keys() for one in runs):
        return expected
    asked = Counter(frozenset(one.tallies) for one in runs)
    return max(asked, key=lambda problems: (asked[problems], len(problems), sorted(problems)))


def _partial(runs: Sequence[ScoredRun], whole: int, reason: str) -> Iterator[Group]:
    """Runs that lack problems, compared on those that they have in common; without any, each stands alone."""
    if not runs:
        return
    common = frozenset.intersection(*(frozenset(one.tallies) for one in runs))
    counts = sorted({len(one.tallies) for one in runs})
    span = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    text = f"Partial: {span} problems, where the full table is over {whole}."
    for together in [list(runs)] if common else [[one] for one in runs]:
        problems = common or frozenset(together[0].tallies)
        yield Group(
            runs=tuple(together),
            problems=tuple(sorted(problems)),
            reason=f"{text} {reason}".strip(),
            notes=_common_note(together, problems),
        )


def _subsets_note(runs: Sequence[ScoredRun]) -> tuple[str, ...]:
    subsets = sorted({one.run.subset for one in runs})
    if len(subsets) == 1:
        return ()
    return (
        f"Runs of the subsets {' and '.join(subsets)} stand together, for their common problems are the same ones.",
    )


def _common_note(runs: Sequence[ScoredRun], problems: frozenset[str]) -> tuple[str, ...]:
    more = [one for one in runs if len(one.tallies) > len(problems)]
    if not more:
        return ()
    return (f"{len(more)} of {len(runs)} runs have further problems; all are compared on {len(problems)} common ones.",)
