"""What there is by name: benchmarks and what is in them (``bw bench list`` and ``show``), sandboxes."""

import dataclasses
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.answers.plans import read_plan
from benchwright.benchmarks import agent_prompts
from benchwright.benchmarks.agent_prompts import LOOP_TOOLS
from benchwright.benchmarks.base import ProblemSet
from benchwright.benchmarks.bigcodebench.statistics import statistics_of
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS
from benchwright.core.agents import AgentLimits
from benchwright.core.errors import UsageError
from benchwright.core.prompts import Mode, Prompt
from benchwright.sandboxes.registry import SANDBOXES


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One benchmark of the list."""

    name: str
    title: str
    licence: str
    subsets: tuple[str, ...]
    variants: tuple[str, ...]
    versions: tuple[str, ...]
    environments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """Which rows of which benchmark."""

    benchmark: str
    subset: str | None = None
    version: str | None = None
    path: Path | None = None

    def load(self) -> ProblemSet:
        """Read them; raises `UsageError` for data that is not as claimed."""
        return BENCHMARKS.get(self.benchmark).load(subset=self.subset, version=self.version, path=self.path)


def benchmarks() -> list[Entry]:
    """Every benchmark known here, built in or installed: those of functions, then those of repositories."""
    names = [field.name for field in dataclasses.fields(Entry)]
    functions = [
        Entry(**{name: getattr(BENCHMARKS.get(known), name) for name in names}) for known in BENCHMARKS.names()
    ]
    return functions + [_repositories(known) for known in REPOSITORY_BENCHMARKS.names()]


def _repositories(name: str) -> Entry:
    benchmark = REPOSITORY_BENCHMARKS.get(name)
    return Entry(
        name=benchmark.name,
        title=benchmark.title,
        licence=benchmark.licence,
        subsets=benchmark.subsets,
        variants=("patch",),
        versions=benchmark.versions,
        environments=("one for each repository and version",),
    )


def sandboxes() -> tuple[str, ...]:
    """Every sandbox for repository problems known here, built in or installed."""
    return SANDBOXES.names()


def is_repositories(name: str) -> bool:
    """Whether a benchmark of that name is one of repository problems."""
    return name in REPOSITORY_BENCHMARKS.names()


def show_repositories(data: Data) -> dict[str, Any]:
    """The identity of a benchmark of repository problems, and what its data counts to."""
    benchmark = REPOSITORY_BENCHMARKS.get(data.benchmark)
    problems = benchmark.load(subset=data.subset, version=data.version, path=data.path)
    repos = Counter(problem.repo for problem in problems.problems)
    return {
        "name": benchmark.name,
        "title": benchmark.title,
        "licence": benchmark.licence,
        "version": problems.version,
        "subset": problems.subset,
        "digest": problems.digest,
        "pinned": problems.pinned,
        "source": problems.source,
        "problems": len(problems.problems),
        "without_tests": len(problems.without_tests),
        "environments": len({(problem.repo, problem.version) for problem in problems.problems}),
        "repositories": dict(repos.most_common()),
    }


def show_repository_problem(data: Data, problem_id: str) -> dict[str, Any]:
    """Everything a repository problem consists of; raises `UnknownNameError` with near misses."""
    benchmark = REPOSITORY_BENCHMARKS.get(data.benchmark)
    problems = benchmark.load(subset=data.subset, version=data.version, path=data.path)
    return dataclasses.asdict(problems.problem(problem_id))


def agent_prompt(data: Data, problem_id: str) -> Prompt:
    """What an agent of the default scaffold is told about a problem, with the default budget."""
    benchmark = REPOSITORY_BENCHMARKS.get(data.benchmark)
    problems = benchmark.load(subset=data.subset, version=data.version, path=data.path)
    return agent_prompts.agent_prompt(problems.problem(problem_id), tools=LOOP_TOOLS, limits=AgentLimits())


def show_benchmark(data: Data, *, with_statistics: bool) -> dict[str, Any]:
    """A benchmark's identity, and on request what its data counts to."""
    problems = data.load()
    benchmark = BENCHMARKS.get(data.benchmark)
    shown: dict[str, Any] = {
        "name": benchmark.name,
        "title": benchmark.title,
        "licence": benchmark.licence,
        "version": problems.version,
        "subset": problems.subset,
        "digest": problems.digest,
        "pinned": problems.pinned,
        "source": problems.source,
        "problems": len(problems.problems),
    }
    if with_statistics:
        shown |= dataclasses.asdict(statistics_of(problems))
    return shown


def show_problem(data: Data, problem_id: str) -> dict[str, Any]:
    """Everything a problem consists of; raises `UnknownNameError` with near misses."""
    problem = data.load().problem(problem_id)
    shown = dataclasses.asdict(problem)
    shown["prompts"] = dict(problem.prompts)
    shown["tests"] = [test.id for test in read_plan(problem.test_source).tests]
    return shown


def prompt(data: Data, problem_id: str, variant: str, *, mode: Mode, prefill: bool) -> Prompt:
    """What a model is sent for a problem; raises `UsageError` for a variant the benchmark does not have."""
    benchmark = BENCHMARKS.get(data.benchmark)
    if variant not in benchmark.variants:
        raise UsageError(
            f"{benchmark.title} has no variant {variant!r}; choose one of: {', '.join(benchmark.variants)}."
        )
    return benchmark.prompt(data.load().problem(problem_id), variant, mode=mode, prefill=prefill)
