"""What a benchmark is to the rest of the system: the `Benchmark` protocol, what it gives and takes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

from benchwright.core.answers import CodeAnswer
from benchwright.core.attempts import Attempt
from benchwright.core.digest import digest_of
from benchwright.core.errors import UnknownNameError
from benchwright.core.execution import Submission
from benchwright.core.problems import FunctionProblem
from benchwright.core.prompts import Mode, Prompt
from benchwright.core.runs import ResultRow, Score

LOCAL = "local-"
"""How versions of data begin that is none of the published."""


def local_version(digest: str) -> str:
    """The version of data that nothing is known of, by its digest."""
    return f"{LOCAL}{digest[:12]}"


class SampleKey(NamedTuple):
    """Names one sample."""

    problem_id: str
    sample: int


class HasId(Protocol):
    """What a set can name its problems by."""

    @property
    def id(self) -> str:
        """The benchmark's own id."""


P = TypeVar("P", bound=HasId)


@dataclass(frozen=True, kw_only=True)
class Problems(Generic[P]):
    """The problems of one benchmark, version and subset, in the order of their ids."""

    benchmark: str
    version: str
    """The data's published version, or ``local-`` and a digest when it is none that is known."""
    subset: str
    digest: str
    """SHA-256 over the canonical rows of these problems: the same for every file format."""
    source: str
    """Where the rows came from: a file's path, or data set, revision and file."""
    pinned: bool
    """Whether the rows or their file were checked against a digest that the package ships."""
    problems: tuple[P, ...]

    @cached_property
    def by_id(self) -> Mapping[str, P]:
        """The problems by id."""
        return {problem.id: problem for problem in self.problems}

    def problem(self, problem_id: str) -> P:
        """The problem of that id; raises `UnknownNameError` with near misses."""
        try:
            return self.by_id[problem_id]
        except KeyError:
            raise UnknownNameError(f"{self.benchmark} problem", problem_id, self.by_id) from None

    def only(self, problem_ids: Iterable[str]) -> Self:
        """The same set with these problems alone; digest and version still say which data they are from.

        Raises `UnknownNameError` for an id that is not in the set.
        """
        chosen = {self.problem(problem_id).id for problem_id in problem_ids}
        return replace(self, problems=tuple(problem for problem in self.problems if problem.id in chosen))


@dataclass(frozen=True, kw_only=True)
class ProblemSet(Problems[FunctionProblem]):
    """Problems of functions to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFile:
    """What a file (or folder of files) of samples holds for a problem set."""

    name: str
    """Name of the file or folder, without its path."""
    digest: str
    """SHA-256 of the file's bytes; of a folder: over the names and digests of its files."""
    files: tuple[str, ...]
    """The files read, in order."""
    model: str
    """Whose answers they are, as the rows or the file's name or folder say."""
    attempts: tuple[Attempt, ...]
    """In file order."""
    missing: tuple[str, ...]
    """Ids of the set's problems without any sample."""
    fewest_samples: int
    """Smallest number of samples among the problems that have one."""
    most_samples: int
    """Largest number of samples of a problem."""
    variant: str | None = None
    """Prompt variant that was answered, where the file says so."""

    @classmethod
    def of(
        cls,
        attempts: Sequence[Attempt],
        *,
        name: str,
        files: Sequence[str],
        model: str,
        missing: Sequence[str],
        variant: str | None,
    ) -> "SampleFile":
        """A sample file out of at least one attempt that was read elsewhere; its digest is over what they say."""
        counts = Counter(attempt.problem_id for attempt in attempts)
        texts = [[a.problem_id, a.sample, a.raw_text, a.prefill, a.ending.value] for a in attempts]
        return cls(
            name=name,
            digest=digest_of(texts),
            files=tuple(files),
            model=model,
            attempts=tuple(attempts),
            missing=tuple(missing),
            fewest_samples=min(counts.values()),
            most_samples=max(counts.values()),
            variant=variant,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialResults:
    """What goes into the benchmark's official result files: one score of one graded sample file."""

    rows: tuple[ResultRow, ...]
    """Rows of this score only."""
    answers: Mapping[SampleKey, str]
    """The answer's code without a stub; a sample that is absent had none."""
    messages: Mapping[SampleKey, Mapping[str, str]]
    """Messages of the tests that did not pass, by test id."""
    score: Score
    pass_at_k: Mapping[int, float]
    """Estimate by k."""
    model: str
    variant: str
    reference_pass_rate: float | None
    """Share of problems whose reference passed the control run; None without control runs."""
    failed_references: tuple[str, ...]
    """Ids of the problems whose reference did not."""
    date: datetime


class OfficialFiles(NamedTuple):
    """What was written."""

    paths: tuple[Path, ...]
    left_out: tuple[SampleKey, ...]
    """Samples without a verdict (faults), for which the official format has no word."""


class Benchmark(Protocol):
    """A benchmark of functions to write, decided by unit tests."""

    @property
    def name(self) -> str:
        """Name in the registry."""

    @property
    def title(self) -> str:
        """Name for people."""

    @property
    def licence(self) -> str:
        """SPDX name of the data's licence."""

    @property
    def environments(self) -> tuple[str, ...]:
        """Names of the environments its answers run in, the default first."""

    @property
    def variants(self) -> tuple[str, ...]:
        """Prompt variants, the default first."""

    @property
    def subsets(self) -> tuple[str, ...]:
        """Subsets, the default first."""

    @property
    def versions(self) -> tuple[str, ...]:
        """Published versions of the data, oldest first."""

    def load(self, *, subset: str | None = None, version: str | None = None, path: Path | None = None) -> ProblemSet:
        """The problems, from a local file if given; raises `UsageError` for data that is not as claimed."""

    def subset_ids(self, subset: str) -> frozenset[str]:
        """Ids of a subset that is smaller than the default one; empty for the default."""

    def read_samples(self, path: Path, problems: ProblemSet) -> SampleFile:
        """The attempts in a file or folder; raises `UsageError` that names file and line."""

    def render(self, problem: FunctionProblem, variant: str) -> str:
        """The prompt text as the data gives it."""

    def prompt(self, problem: FunctionProblem, variant: str, *, mode: Mode, prefill: bool = False) -> Prompt:
        """What a model is sent; raises `UsageError` for a combination that makes no sense."""

    def for_instruction_tuned(self, variant: str) -> bool:
        """Whether a variant is meant for instruction-tuned models only: a base model's score on it is flagged."""

    def assemble(self, problem: FunctionProblem, answer: CodeAnswer, score: Score) -> Submission:
        """What is executed for an answer under a score."""

    def write_official_files(
        self, folder: Path, stem: str, results: OfficialResults, problems: ProblemSet
    ) -> OfficialFiles:
        """Write the files that the benchmark's own tools read; ``stem`` begins their names."""
