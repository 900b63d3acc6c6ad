"""Benchmarks of repository problems: the protocol, what it gives and takes, and the registry."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

from benchwright.benchmarks.base import Problems
from benchwright.core.attempts import Attempt
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.registry import Registry
from benchwright.core.repositories import RepositoryProblem

_NAMED = 5


def has_tests(problem: RepositoryProblem) -> bool:
    """Whether a patch for the problem can be graded; a row may hold no more than the issue and its commit."""
    return bool(problem.test_patch and problem.fail_to_pass)


def digest_of_repository_problems(problems: Iterable[RepositoryProblem]) -> str:
    """Digest of a data set: SHA-256 over the digests of its canonical rows, sorted by id."""
    return digest_of([problem.digest for problem in sorted(problems, key=lambda problem: problem.id)])


def named_few(names: Iterable[str]) -> str:
    """The first few of several names, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - _NAMED} more" if len(every) > _NAMED else ""
    return ", ".join(every[:_NAMED]) + more


@dataclass(frozen=True, kw_only=True)
class RepositorySet(Problems[RepositoryProblem]):
    """Problems of repositories to mend."""

    @cached_property
    def without_tests(self) -> tuple[str, ...]:
        """Ids of the problems for which nothing can be graded."""
        return tuple(problem.id for problem in self.problems if not has_tests(problem))

    def subset_of(self, name: str, problem_ids: Iterable[str]) -> "RepositorySet":
        """The problems of a named subset, as a set with a digest of its own."""
        chosen = self.only(problem_ids).problems
        return replace(self, subset=name, problems=chosen, digest=digest_of_repository_problems(chosen))

    def check_tests(self) -> None:
        """Raise `UsageError` that names the problems which have no tests."""
        if self.without_tests:
            raise UsageError(
                f"{self.source}: {len(self.without_tests)} of {len(self.problems)} rows have no tests, so nothing can "
                f"be graded for them ({named_few(self.without_tests)}); give a file with test_patch, FAIL_TO_PASS and "
                "PASS_TO_PASS, or leave these ids out."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchFile:
    """What a file (or folder of files) of patches holds for a set of repository problems."""

    name: str
    """Name of the file or folder, without its path."""
    digest: str
    """SHA-256 of the file's bytes; of a folder: over the names and digests of its files."""
    files: tuple[str, ...]
    """The files read, in order."""
    model: str
    """Whose patches they are, as the rows or the file's or folder's name say."""
    attempts: tuple[Attempt, ...]
    """One per problem, in file order; ``raw_text`` is the patch as it was handed in, None where there is none."""
    missing: tuple[str, ...]
    """Ids of the set's problems without any entry."""
    ignored: tuple[str, ...] = ()
    """Ids in the file that the set does not have, when those were to be ignored."""


class RepositoryBenchmark(Protocol):
    """A benchmark of issues to resolve, decided by the repositories' own tests."""

    @property
    def name(self) -> str:
        """Name in the registry."""

    @property
    def title(self) -> str:
        """Name for people."""

    @property
    def licence(self) -> str:
        """SPDX name of the licence that the data is published under."""

    @property
    def subsets(self) -> tuple[str, ...]:
        """Named subsets, the default first."""

    @property
    def versions(self) -> tuple[str, ...]:
        """Published versions of the data, oldest first; empty when there is none."""

    def load(self, *, subset: str | None = None, version: str | None = None, path: Path | None = None) -> RepositorySet:
        """The problems, from a local file if given; raises `UsageError` for data that is not as claimed."""

    def read_predictions(self, path: Path, problems: RepositorySet, *, ignore_unknown: bool = False) -> PatchFile:
        """The patches in a file or folder; raises `UsageError` that names file and place."""


_SWEBENCH = "benchwright.benchmarks.swebench.benchmark"

REPOSITORY_BENCHMARKS: Registry[RepositoryBenchmark] = Registry(
    "repository benchmark",
    {
        "swebench-verified": f"{_SWEBENCH}:VERIFIED",
        "swebench-lite": f"{_SWEBENCH}:LITE",
        "swebench-full": f"{_SWEBENCH}:FULL",
        "swebench-mini": f"{_SWEBENCH}:MINI",
        "repositories": f"{_SWEBENCH}:REPOSITORIES",
    },
    group="benchwright.repository_benchmarks",
)
