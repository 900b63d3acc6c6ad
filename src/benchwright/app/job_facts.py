"""What jobs are made of besides the answers, written down with a grading.

With it a reader who has nothing but the results can work out which answer a record is of (jobs of functions), and
judge patches again (tests of repository problems).
"""

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from benchwright.core.errors import UsageError
from benchwright.core.execution import Isolation, Limits, Submission, digest_of_job, digest_of_plan
from benchwright.core.problems import FunctionProblem
from benchwright.core.repositories import RepositoryProblem
from benchwright.grading.pipeline import Pipeline
from benchwright.store.folder import JOBS, TESTS

F = TypeVar("F")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFacts:
    """What all jobs of one function problem have in common in a grading."""

    id: str
    digest: str
    """SHA-256 of the problem's row."""
    entry_point: str
    stub: str
    """As `FunctionProblem.stub`."""
    plan: str
    """SHA-256 of the planned tests, with their source."""
    limits: Limits

    def job_digest(self, submission: Submission, manifest: Mapping[str, Any]) -> str:
        """Digest of the job of a submission; raises ``KeyError``/``ValueError`` for a manifest that is none."""
        return digest_of_job(
            submission,
            plan=self.plan,
            environment=manifest["environment_digest"],
            limits=self.limits,
            guest_version=manifest["guest_version"],
            isolation=Isolation(manifest["isolation"]),
        )

    def problem(self, benchmark: str) -> FunctionProblem:
        """The problem as far as it is known: enough to make a submission of an answer."""
        return FunctionProblem(
            benchmark=benchmark,
            id=self.id,
            prompts={"complete": "", "instruct": ""},
            stub=self.stub,
            entry_point=self.entry_point,
            test_source="",
            reference="",
            libraries=(),
            digest=self.digest,
        )


def jobs_to_lines(problems: Iterable[FunctionProblem], pipeline: Pipeline) -> Iterator[dict[str, Any]]:
    """The lines of `JOBS`."""
    for problem in problems:
        facts = JobFacts(
            id=problem.id,
            digest=problem.digest,
            entry_point=problem.entry_point,
            stub=problem.stub,
            plan=digest_of_plan(pipeline.plan(problem)),
            limits=pipeline.limits(problem),
        )
        yield dataclasses.asdict(facts)


def read_jobs(folder: Path) -> dict[str, JobFacts]:
    """The lines of `JOBS` by problem id; empty where the grading did not write any.

    Raises `UsageError` naming the line that cannot be read.
    """
    return {facts.id: facts for facts in _lines(folder / JOBS, _job_of)}


def _job_of(line: dict[str, Any]) -> JobFacts:
    return JobFacts(**{**line, "limits": Limits(**line["limits"])})


def tests_to_lines(problems: Iterable[RepositoryProblem], environments: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The lines of `TESTS`.

    Args:
        problems: Those that were asked.
        environments: Digest of the environment that jobs of a problem ran in, by id, where there is one.
    """
    for problem in problems:
        yield {
            "id": problem.id,
            "repo": problem.repo,
            "digest": problem.digest,
            "environment": environments.get(problem.id, ""),
            "fail_to_pass": list(problem.fail_to_pass),
            "pass_to_pass": list(problem.pass_to_pass),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFacts:
    """A repository problem as far as the judge needs it, and where its jobs ran."""

    __test__ = False

    problem: RepositoryProblem
    """With its tests; texts and commits are empty."""
    environment: str
    """Digest that its jobs have; empty where there are none."""


def read_tests(folder: Path, benchmark: str) -> dict[str, TestFacts]:
    """The lines of `TESTS` by problem id; empty where the grading did not write any.

    Raises `UsageError` naming the line that cannot be read.
    """
    found = _lines(folder / TESTS, lambda line: _test_of(line, benchmark))
    return {facts.problem.id: facts for facts in found}


def _test_of(line: dict[str, Any], benchmark: str) -> TestFacts:
    problem = RepositoryProblem(
        benchmark=benchmark,
        id=line["id"],
        repo=line["repo"],
        version="",
        base_commit="",
        environment_commit="",
        issue="",
        hints="",
        created_at="",
        reference_patch="",
        test_patch="",
        fail_to_pass=tuple(map(str, line["fail_to_pass"])),
        pass_to_pass=tuple(map(str, line["pass_to_pass"])),
        digest=line["digest"],
    )
    return TestFacts(problem=problem, environment=line["environment"])


def _lines(path: Path, read: Callable[[dict[str, Any]], F]) -> Iterator[F]:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); grade again to make it anew.") from error
    with file:
        for number, line in enumerate(file, 1):
            try:
                found = read(json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise UsageError(f"{path}, line {number} is not what a grading writes there ({error}).") from error
            yield found
