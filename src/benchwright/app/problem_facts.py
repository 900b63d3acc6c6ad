"""What a grading writes down of its problems, for breakdowns and tables that have the results alone."""

from benchwright.benchmarks.swebench.rows import difficulty_of
from benchwright.core.problems import FunctionProblem
from benchwright.core.repositories import RepositoryProblem
from benchwright.core.results import ProblemFacts


def facts_of_function(problem: FunctionProblem) -> ProblemFacts:
    """Facts of a function problem: its domains are the tags that the benchmark gives it."""
    return ProblemFacts(id=problem.id, digest=problem.digest, domains=problem.tags, libraries=problem.libraries)


def facts_of_repository(problem: RepositoryProblem) -> ProblemFacts:
    """Facts of a repository problem; its solution could be read from the day of the pull request on."""
    return ProblemFacts(
        id=problem.id,
        digest=problem.digest,
        repository=problem.repo,
        difficulty=difficulty_of(problem) or "",
        created=problem.created_at,
    )
