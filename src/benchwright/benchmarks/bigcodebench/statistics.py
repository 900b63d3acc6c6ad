"""Figures of a problem set, counted in the data itself."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from benchwright.answers.plans import read_plan
from benchwright.benchmarks.base import ProblemSet
from benchwright.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """What ``bw bench show --stats`` prints."""

    tasks: int
    libraries: int
    """Distinct libraries that references use."""
    libraries_per_task: float
    tasks_by_library: Mapping[str, int]
    """Most used first."""
    tasks_by_domain: Mapping[str, int]
    """Most frequent first; empty when the data names no domains."""
    tests: int
    tests_per_task: float
    fewest_tests: int
    most_tests: int
    prompt_characters: Mapping[str, float]
    """Mean length of the prompt by variant."""


def statistics_of(problems: ProblemSet) -> Statistics:
    """Count tasks, libraries, domains, tests and prompt lengths; raises `UsageError` for an empty set."""
    members = problems.problems
    if not members:
        raise UsageError(f"There is no problem of {problems.benchmark} to count.")
    tests = [len(read_plan(problem.test_source).tests) for problem in members]
    libraries = Counter(library for problem in members for library in set(problem.libraries))
    domains = Counter(domain for problem in members for domain in set(problem.tags))
    variants = {variant for problem in members for variant in problem.prompts}
    return Statistics(
        tasks=len(members),
        libraries=len(libraries),
        libraries_per_task=libraries.total() / len(members),
        tasks_by_library=dict(sorted(libraries.items(), key=lambda item: (-item[1], item[0]))),
        tasks_by_domain=dict(sorted(domains.items(), key=lambda item: (-item[1], item[0]))),
        tests=sum(tests),
        tests_per_task=sum(tests) / len(members),
        fewest_tests=min(tests),
        most_tests=max(tests),
        prompt_characters={
            variant: sum(len(problem.prompts.get(variant, "")) for problem in members) / len(members)
            for variant in sorted(variants)
        },
    )
