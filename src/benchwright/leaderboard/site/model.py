"""What a site is made of: tables, the verdicts behind them, problems, answers, and what readers are told of methods.

Everything here may hold text that somebody else wrote (names, statements, answers, messages): nothing of it is markup.
"""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchwright.core.benchmark_facts import BenchmarkFacts
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
    prompts: Mapping[str, str] = field(default_factory=dict)
    """What models were told, by what the page calls it; empty when the data set was not at hand."""


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


HUMAN = "Human reference"
"""What charts and bars call the score of people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A result bundle that readers can download and check."""

    path: Path
    model: str
    benchmark: str
    """Benchmark, subset and variant."""
    signed: str
    """Who signed it, as half a sentence, such as ``not signed``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteData:
    """Everything that the pages say."""

    title: str
    tables: tuple[Table, ...]
    """The first one is shown first."""
    runs: tuple[ScoredRun, ...] = ()
    """The verdicts behind the tables' rows; tables without them have no heat map and no comparison."""
    problems: Mapping[str, Mapping[str, SiteProblem]] = field(default_factory=dict)
    """By benchmark, then by id."""
    answers: Answers | None = None
    left_out: tuple[LeftOut, ...] = ()
    benchmarks: Mapping[str, BenchmarkFacts] = field(default_factory=dict)
    """What is known of benchmarks besides results, by name."""
    evaluations: tuple[EvaluationVersion, ...] = VERSIONS
    """Versions of the agents' evaluation, the oldest first."""
    bundles: tuple[Bundle, ...] = ()
    generated: str = ""
    """What the pages give as their date, ISO 8601; never the clock's, so that the same input gives the same bytes."""
    version: str
    """Of benchwright."""

    def facts_of(self, benchmark: str) -> BenchmarkFacts:
        """What is known of a benchmark; nothing for one that has no facts."""
        return self.benchmarks.get(benchmark, BenchmarkFacts())


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
