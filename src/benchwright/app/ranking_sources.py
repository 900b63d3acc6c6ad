"""Where the runs of a ranking come from: the store, results folders, lists of resolved instances, official verdicts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from benchwright.app.importing_submissions import UNSTATED, resolved_runs
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS
from benchwright.benchmarks.swebench.submissions import Attempted
from benchwright.core.errors import UsageError
from benchwright.core.results import ProblemFacts, ScoredRun, StoredRun
from benchwright.core.runs import Score
from benchwright.leaderboard.tables import LeftOut


class Wanted(Protocol):
    """What is asked of the sources."""

    @property
    def benchmark(self) -> str:
        """Name of the benchmark."""

    @property
    def subset(self) -> str | None:
        """Only this subset; None for whatever there is."""

    @property
    def score(self) -> Score | None:
        """Which score; None for the last of each run."""

    @property
    def runs(self) -> tuple[str, ...]:
        """Results folders, entries, models."""

    @property
    def resolved(self) -> Path | None:
        """A list of what submissions resolved."""

    @property
    def attempted(self) -> Attempted:
        """What such submissions are taken to have tried."""

    @property
    def verdicts(self) -> tuple[Path, ...]:
        """Official verdict files."""

    @property
    def dataset(self) -> Path | None:
        """The benchmark's rows."""

    @property
    def store(self) -> Path | None:
        """Where the store is; None for the usual place."""

    @property
    def named(self) -> bool:
        """Whether any of these was named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Everything that was found."""

    where: str
    """What messages call the place."""
    scored: tuple[ScoredRun, ...] = ()
    reported: tuple[StoredRun, ...] = ()
    """Runs of sources that state numbers only."""
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    problem_ids: tuple[str, ...] = ()
    """All problems of the benchmark, where a file of its rows was given."""
    facts: Callable[[StoredRun], Mapping[str, ProblemFacts]] = lambda run: {}
    """What is known of a run's problems."""

    @property
    def runs(self) -> list[StoredRun]:
        """Every run."""
        return [*(one.run for one in self.scored), *self.reported]

    def only(self, fits: Callable[[StoredRun], bool]) -> "Sources":
        """Those whose run fits."""
        return replace(
            self,
            scored=tuple(one for one in self.scored if fits(one.run)),
            reported=tuple(run for run in self.reported if fits(run)),
        )

    def with_(self, other: "Sources") -> "Sources":
        """Both together; of what is known of problems, the first that knows anything."""
        return Sources(
            where=f"{self.where} and {other.where}",
            scored=self.scored + other.scored,
            reported=self.reported + other.reported,
            left_out=self.left_out + other.left_out,
            notes=self.notes + other.notes,
            problem_ids=self.problem_ids or other.problem_ids,
            facts=lambda run: self.facts(run) or other.facts(run),
        )

    def problem_facts(self, runs: Sequence[ScoredRun]) -> Mapping[str, ProblemFacts]:
        """What is known of the problems of some runs of the same problems: as the first of them has it."""
        return next((facts for one in runs[:_ASKED] if (facts := self.facts(one.run))), {})


_ASKED = 3
"""Runs that are asked for what they know of their problems; in one table they know the same or nothing."""


def gather(wanted: Wanted, workspace: Workspace) -> Sources:
    """Everything that is asked for.  Raises `UsageError` for a source that cannot be read."""
    found: list[Sources] = []
    if wanted.resolved is not None:
        found.append(_resolved(wanted, wanted.resolved))
    if not found:
        raise UsageError("no sources yet")
    together = found[0]
    for other in found[1:]:
        together = together.with_(other)
    return together


def _resolved(wanted: Wanted, path: Path) -> Sources:
    if wanted.benchmark not in REPOSITORY_BENCHMARKS.names():
        known = ", ".join(REPOSITORY_BENCHMARKS.names())
        raise UsageError(
            f"A list of resolved instances is of repository problems, and {wanted.benchmark} is not; choose one of: "
            f"{known}."
        )
    ids: tuple[str, ...] | None = None
    version, subset = UNSTATED, wanted.subset or "all"
    found = resolved_runs(
        path,
        benchmark=wanted.benchmark,
        subset=subset,
        version=version,
        dataset=wanted.dataset,
        attempted=wanted.attempted,
    )
    ids = found.resolved.problem_ids
    return Sources(where=path.name, scored=found.runs, notes=found.notes, problem_ids=ids)
