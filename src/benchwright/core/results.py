"""Results of many runs side by side: whose they are, where they come from, and what each problem came to.

A *run* is one model's graded answers to one benchmark.  It is either our own, with every verdict behind it, or an
import, which says what its source says: sometimes verdicts by problem, sometimes only a score.
"""

import dataclasses
import enum
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason

UNSTATED = "unstated"
"""Version of the benchmark's data where the source of an import does not say which it used."""


class Origin(enum.StrEnum):
    """Who says what a run came to."""

    OWN = "own"
    """benchwright graded the answers, on this machine or on that of whoever made the bundle."""
    IMPORTED = "imported"
    """Somebody else's harness did; shown under its source's name, never mixed silently with own results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where an import comes from."""

    kind: str
    """Format of what was read, such as ``bigcodebench-leaderboard``."""
    title: str
    """What readers are shown, such as ``BigCodeBench leaderboard``."""
    url: str = ""
    files: tuple[tuple[str, str], ...] = ()
    """Name and SHA-256 of every file that was read."""
    note: str = ""
    """What a reader should know of how these numbers came about."""

    def to_plain(self) -> dict[str, Any]:
        """Plain data, stable under :meth:`from_plain`."""
        return {**dataclasses.asdict(self), "files": [list(one) for one in self.files]}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "Source":
        """Rebuild from :meth:`to_plain` data; raises ``KeyError``, ``TypeError`` or ``ValueError`` on others."""
        return cls(**{**data, "files": tuple((str(name), str(digest)) for name, digest in data.get("files", ()))})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """What is known of a model besides its results; None or empty where nothing is."""

    link: str = ""
    released: str = ""
    """Date, ISO 8601."""
    cutoff: str = ""
    """Date up to which its training data reaches, ISO 8601."""
    parameters: float | None = None
    """In billions, all of them."""
    active_parameters: float | None = None
    """In billions, of one token of a mixture of experts."""
    open_weights: bool | None = None
    open_data: str = ""
    """As BigCodeBench's leaderboard calls it: ``Full``, ``Partial`` or ``None``."""
    instruction_tuned: bool | None = None

    def to_plain(self) -> dict[str, Any]:
        """Plain data, stable under :meth:`from_plain`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "ModelFacts":
        """Rebuild from :meth:`to_plain` data; raises ``TypeError`` on others."""
        return cls(**data)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedScore:
    """A score that a source states without the verdicts behind it."""

    metric: str
    """In the source's own words, such as ``pass@1``."""
    value: float
    """Between 0 and 1."""
    n: int | None = None
    """Problems behind it, where the source says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """One run as the store keeps it, without its rows."""

    entry: str
    """Digest of everything the entry holds, 64 hexadecimal digits: what the store keeps it under."""
    run_id: str
    """Identity of what was asked and graded; gradings of the same run, such as a regrading, share it."""
    origin: Origin
    source: Source | None = None
    """None for own runs."""
    benchmark: str
    version: str
    """Of the benchmark's data."""
    data_digest: str = ""
    subset: str
    variant: str
    """``complete``, ``instruct``, ``patch``."""
    model: str
    scaffold: str = ""
    """Empty for function problems and for patches of unknown making."""
    scores: tuple[Score, ...] = ()
    """Scores that have rows; empty when the source states numbers only."""
    reported: tuple[ReportedScore, ...] = ()
    problems: int = 0
    """Problems that have a row."""
    samples: int = 1
    """Largest number of samples of a problem."""
    solved: int = 0
    """Problems with a passing sample under the last score."""
    faults: int = 0
    missing: int = 0
    cost: float | None = None
    """USD for the model; None when that is not known."""
    flags: tuple[str, ...] = ()
    facts: ModelFacts = field(default_factory=ModelFacts)
    evaluation: Mapping[str, Any] | None = None
    """How an agent's result came about, as `Evaluation.to_plain` has it."""
    finished: str = ""
    """When the run ended, by the clock of the machine that graded it, ISO 8601; never used to put runs in order."""
    recorded: str = ""
    """When this store took it in."""
    supersedes: str | None = None
    """The entry of the same run that this one replaces."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """The whole manifest of the grading."""
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 by name of every file of the entry."""

    @property
    def reported_only(self) -> bool:
        """Whether there are no verdicts behind it."""
        return not self.scores


BUNDLED, FROM_FOLDER = "bundle", "from_folder"
"""Flags of own results that came in a result bundle, and that were taken in from a results folder and not recorded when
they were graded."""
HANDED_OVER = frozenset({BUNDLED, FROM_FOLDER})
"""Flags of own results that somebody handed over: nothing shows on which machine they were graded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemFacts:
    """What breakdowns, windows and pages need to know of a problem."""

    id: str
    digest: str = ""
    domains: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    repository: str = ""
    difficulty: str = ""
    created: str = ""
    """Date from which on the problem, with its solution, could be read by anybody, ISO 8601; empty when unknown."""

    def to_plain(self) -> dict[str, Any]:
        """Plain data, stable under :meth:`from_plain`."""
        return {**dataclasses.asdict(self), "domains": list(self.domains), "libraries": list(self.libraries)}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> "ProblemFacts":
        """Rebuild from :meth:`to_plain` data; raises ``KeyError`` or ``TypeError`` on others."""
        return cls(**{**data, "domains": tuple(data["domains"]), "libraries": tuple(data["libraries"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What the samples of one problem came to under one score."""

    scored: int
    """Samples that count; a missing one counts as one that does not pass."""
    passed: int
    faults: int = 0
    """Samples that are our side's fault and are left out."""
    missing: int = 0
    """Of those that count: answers that are not there."""

    @property
    def share(self) -> float | None:
        """Share of passing samples; None when all of them are faults."""
        return self.passed / self.scored if self.scored else None


_TALLIES: dict[tuple[int, int, int, int], Tally] = {}


def tallies_of_rows(rows: Iterable[ResultRow], score: Score) -> dict[str, Tally]:
    """What the rows of one score come to by problem."""
    chosen = (row for row in rows if row.score is score)
    return tallies_of((row.problem_id, row.verdict.outcome, row.verdict.reason) for row in chosen)


def tallies_of(verdicts: Iterable[Sequence[str]]) -> dict[str, Tally]:
    """Count (problem, outcome, reason) of samples under one score, in the order in which problems come.

    Equal tallies are one object, for a store has millions.
    """
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for problem, outcome, reason in verdicts:
        count = counts[problem]
        if outcome == Outcome.FAULT:
            count[2] += 1
        else:
            count[0] += 1
            count[1] += outcome == Outcome.PASSED
            count[3] += reason == Reason.MISSING
    return {problem: _tally(*count) for problem, count in counts.items()}


def _tally(scored: int, passed: int, faults: int, missing: int) -> Tally:
    key = (scored, passed, faults, missing)
    if key not in _TALLIES:
        _TALLIES[key] = Tally(scored=scored, passed=passed, faults=faults, missing=missing)
    return _TALLIES[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRun:
    """A run under one score, problem by problem: what ratings, tables and comparisons are made of."""

    run: StoredRun
    score: Score
    tallies: Mapping[str, Tally]
    """By problem id, every problem that was asked."""
