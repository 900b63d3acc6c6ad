"""What a user's files say of problems: the benchmark's rows, and domains by library or by problem."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from benchwright.app.problem_facts import facts_of_function, facts_of_repository
from benchwright.benchmarks.documents import read_document
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS
from benchwright.core.errors import UsageError
from benchwright.core.results import ProblemFacts

_MAX_BYTES = 64 * 1024 * 1024


def dataset_facts(benchmark: str, path: Path | None) -> dict[str, ProblemFacts]:
    """Facts by problem id out of a file with the benchmark's rows; none without a file."""
    if path is None:
        return {}
    if benchmark in REPOSITORY_BENCHMARKS.names():
        instances = REPOSITORY_BENCHMARKS.get(benchmark).load(path=path).problems
        found = [facts_of_repository(problem) for problem in instances]
    else:
        found = [facts_of_function(problem) for problem in BENCHMARKS.get(benchmark).load(path=path).problems]
    return {one.id: one for one in found}


def read_domains(path: Path | None) -> dict[str, tuple[str, ...]]:
    """Domains by library or by problem id: a JSON object of names, or of lists of names; none without a file.

    Raises `UsageError` for anything else.
    """
    if path is None:
        return {}
    document = read_document(path, most=_MAX_BYTES).value
    if not isinstance(document, dict):
        raise UsageError(f"{path} holds no JSON object; expected domains by library or by problem.")
    domains = {}
    for name, value in document.items():
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
            raise UsageError(f"{path}: the domains of {name!r:.60} are no name and no list of names.")
        domains[name] = tuple(dict.fromkeys(listed))
    return domains


def with_domains(
    facts: Mapping[str, ProblemFacts], domains: Mapping[str, tuple[str, ...]], problems: Iterable[str]
) -> dict[str, ProblemFacts]:
    """The facts with these domains: those of the problem where it is named, otherwise those of its libraries."""
    if not domains:
        return dict(facts)
    every = {problem: facts.get(problem) or ProblemFacts(id=problem) for problem in problems}
    return {
        problem: replace(one, domains=domains.get(problem) or _of_libraries(one, domains) or one.domains)
        for problem, one in every.items()
    }


def _of_libraries(facts: ProblemFacts, domains: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(domain for library in facts.libraries for domain in domains.get(library, ())))
