"""What a site is made of: tables, the verdicts behind them, problems, answers, and what readers are told of methods.

Everything here may hold text that somebody else wrote (names, statements, answers, messages): nothing of it is markup.
"""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchwright.core.evaluation import VERSIONS, EvaluationVersion
from benchwright.core.results import ProblemFacts, ScoredRun
from benchwright.core.runs import Score
from benchwright.leaderboard.tables import LeftOut, Table


class AnswerChoice(enum.StrEnum):
    """Whose answers go into the pages of problems."""

    NONE = "none"
    """No answers."""
    DIFFERING = "differing"
    """Those to problems that some of a table's models solve and others do not."""
    ALL = "all"
    """Those to every problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteProblem:
    """A problem as its page shows it."""

    facts: ProblemFacts
    statement: str = ""
    """What the models were told; empty when the data set was not at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteTest:
    """One test of one answer."""

    name: str
    passed: bool
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteAnswer:
    """One answer and what became of it."""

    text: str
    """The answer; empty when it is not kept."""
    outcome: str
    """Such as ``passed``."""
    reason: str = ""
    detail: str = ""
    """One plain sentence."""
    planned: int = 0
    """Tests that had to pass."""
    passed: int = 0
    tests: tuple[SiteTest, ...] = ()
    """Empty when no single results are kept."""
    transcript: str = ""
    """Address of the transcript; becomes a link when it begins with http:// or https://."""


Answers = Callable[[str, Score, str], tuple[SiteAnswer, ...]]
"""From an entry, a score and a problem's id to that run's answers, one per sample; empty when it keeps none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceLine:
    """A score that is no model's, shown beside a benchmark's tables."""

    benchmark: str
    label: str
    value: float
    """Between 0 and 1."""
    source: str
    """Where the number stands, for people."""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskErrors:
    """A source's own estimate of how many of a benchmark's problems are wrong themselves."""

    benchmark: str
    subset: str
    low: float
    high: float
    source: str
    url: str = ""


REFERENCES = (
    ReferenceLine(
        benchmark="bigcodebench",
        label="Human programmers",
        value=0.97,
        source="BigCodeBench paper, arXiv:2406.15877",
        url="https://arxiv.org/abs/2406.15877",
    ),
)

TASK_ERRORS = (
    TaskErrors(
        benchmark="swebench",
        subset="verified",
        low=0.05,
        high=0.10,
        source="Epoch AI, SWE-bench Verified",
        url="https://epoch.ai/benchmarks/swe-bench-verified",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A result bundle that readers can download and check."""

    entry: str
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteData:
    """Everything that the pages say."""

    title: str
    tables: tuple[Table, ...]
    """The first one is shown first."""
    runs: tuple[ScoredRun, ...] = ()
    """The verdicts behind the tables' rows, by entry and score; tables without them have no heat map and no comparison."""
    problems: Mapping[str, Mapping[str, SiteProblem]] = field(default_factory=dict)
    """By benchmark, then by id."""
    answers: Answers | None = None
    left_out: tuple[LeftOut, ...] = ()
    references: tuple[ReferenceLine, ...] = REFERENCES
    task_errors: tuple[TaskErrors, ...] = TASK_ERRORS
    evaluations: tuple[EvaluationVersion, ...] = VERSIONS
    """Versions of the agents' evaluation, the oldest first."""
    bundles: tuple[Bundle, ...] = ()
    generated: str = ""
    """What the pages give as their date, ISO 8601; never the clock's, so that the same input gives the same bytes."""
    version: str
    """Of benchwright."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteOptions:
    """How the site is written."""

    answers: AnswerChoice = AnswerChoice.DIFFERING
    answer_bytes: int = 20_000
    """Longest answer that is shown whole; the median answer to BigCodeBench is under 2 kB, patches are longer."""
    all_answer_bytes: int = 300_000_000
    """What all answers together may take: GitHub Pages serves sites of up to 1 GB."""
    hugging_face: bool = False
    """Whether to write the README with which a Hugging Face Space serves the folder."""
