"""What pages of problems say: prompts from the benchmark's data, facts from the data or from what runs wrote down."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchwright.app.problem_facts import facts_of_function, facts_of_repository
from benchwright.app.report_facts import read_domains, with_domains
from benchwright.benchmarks.registry import BENCHMARKS
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.problems import FunctionProblem
from benchwright.core.results import ProblemFacts, ScoredRun, StoredRun
from benchwright.leaderboard.site.model import SiteProblem
from benchwright.store.first_hand import first_hand_first
from benchwright.store.results import ResultStore

BUILT_IN = ("starter",)
"""Benchmarks whose data comes with benchwright; that of others is a file, or a download that nobody asked for."""


@dataclass(slots=True, kw_only=True)
class ProblemsOfSite:
    """Gathers the problems of all benchmarks of a site."""

    store: ResultStore
    data: tuple[tuple[str, Path], ...]
    """Benchmark and file with its rows."""
    domains: Path | None
    """JSON file of domains by library, or by problem."""
    notes: list[str] = field(default_factory=list)
    """What could not be used, a sentence for each."""

    def of(self, runs: Mapping[str, Sequence[ScoredRun]]) -> Mapping[str, Mapping[str, SiteProblem]]:
        """The problems by benchmark and id, for the runs of each benchmark.

        Raises `UsageError` for data of a benchmark without results, or files that cannot be used.
        """
        for name, _ in self.data:
            if name not in runs:
                raise UnknownNameError("benchmark in this site", name, runs)
        return self._with_domains({name: self._of(name, runs[name]) for name in runs}, runs)

    def _of(self, benchmark: str, runs: Sequence[ScoredRun]) -> dict[str, SiteProblem]:
        facts = self._written_down(runs)
        known = {problem: SiteProblem(facts=one) for problem, one in facts.items()}
        if benchmark in BUILT_IN:
            asked = _asked(runs)
            for problem in _functions(BENCHMARKS.get(benchmark).load().problems):
                # A run of a user's own tasks may use the same ids.
                same = facts.get(problem.facts.id, problem.facts).digest in ("", problem.facts.digest)
                if problem.facts.id in asked and same:
                    known[problem.facts.id] = replace(problem, facts=facts.get(problem.facts.id, problem.facts))
        for name, path in self.data:
            if name == benchmark:
                known.update({problem.facts.id: problem for problem in _read(name, path)})
        return known

    def _facts_of(self, run: StoredRun) -> Mapping[str, ProblemFacts]:
        """What a run wrote down; nothing, and a note, when that is damaged: its verdicts are shown all the same."""
        try:
            return self.store.problem_facts(run.entry)
        except UsageError as error:
            self.notes.append(f"Not used: {error}")
            return {}

    def _written_down(self, runs: Sequence[ScoredRun]) -> dict[str, ProblemFacts]:
        facts: dict[str, ProblemFacts] = {}
        for run in first_hand_first(one.run for one in runs):
            for problem, each in self._facts_of(run).items():
                facts.setdefault(problem, each)
        return facts

    def _with_domains(
        self, known: Mapping[str, dict[str, SiteProblem]], runs: Mapping[str, Sequence[ScoredRun]]
    ) -> Mapping[str, Mapping[str, SiteProblem]]:
        domains = read_domains(self.domains)
        if not domains:
            return known
        found, used = {}, False
        for name, problems in known.items():
            facts = {problem: one.facts for problem, one in problems.items()}
            laid = with_domains(facts, domains, dict.fromkeys((*facts, *sorted(_asked(runs[name])))))
            used = used or any(one.domains != facts.get(problem, _NOTHING).domains for problem, one in laid.items())
            found[name] = {
                problem: replace(problems.get(problem) or SiteProblem(facts=one), facts=one)
                for problem, one in laid.items()
                if problem in problems or one.domains
            }
        if not used and self.domains is not None:
            self.notes.append(
                f"{self.domains.name} says nothing new of these results' tasks; domains by library take the "
                f"benchmark's data (--dataset), which says what libraries a task uses."
            )
        return found


_NOTHING = ProblemFacts(id="")


def _asked(runs: Iterable[ScoredRun]) -> set[str]:
    return {problem for one in runs for problem in one.tallies}


def _read(benchmark: str, path: Path) -> Iterator[SiteProblem]:
    if benchmark in BENCHMARKS.names():
        yield from _functions(BENCHMARKS.get(benchmark).load(path=path).problems)
        return
    for repository in REPOSITORY_BENCHMARKS.get(benchmark).load(path=path).problems:
        yield SiteProblem(facts=facts_of_repository(repository), prompts={"Statement": repository.issue})


def _functions(problems: Iterable[FunctionProblem]) -> Iterator[SiteProblem]:
    for problem in problems:
        prompts = {f"{variant.capitalize()} prompt": text for variant, text in problem.prompts.items()}
        yield SiteProblem(facts=facts_of_function(problem), prompts=prompts)
