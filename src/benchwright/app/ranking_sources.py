"""Where the runs of a ranking come from: the store, results folders, lists of resolved instances, official verdicts."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from benchwright.app.importing_base import ImportOptions
from benchwright.app.model_facts import StatedFacts, read_model_facts
from benchwright.app.named_runs import every_run
from benchwright.app.ranking_files import FromFiles, from_resolved, from_verdicts
from benchwright.benchmarks.swebench.submissions import Attempted
from benchwright.core.errors import UsageError
from benchwright.core.results import ProblemFacts, ScoredRun, StoredRun
from benchwright.core.runs import Score
from benchwright.leaderboard.policy import evaluation_of
from benchwright.leaderboard.tables import LeftOut
from benchwright.store.first_hand import first_hand_first
from benchwright.store.reading import DamagedError
from benchwright.store.results import ResultStore


class Wanted(Protocol):
    """What is asked of the sources."""

    @property
    def benchmark(self) -> str:
        """Name of the benchmark."""

    @property
    def subset(self) -> str | None:
        """Only this subset; None for whatever there is."""

    @property
    def variant(self) -> str | None:
        """Only this variant; None for whatever there is."""

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
    def model_facts(self) -> Path | None:
        """A file of what the user knows of models."""

    @property
    def named(self) -> bool:
        """Whether any of these was named."""


class KnownFacts(NamedTuple):
    """What is known of problems."""

    facts: Mapping[str, ProblemFacts] = {}
    """By id."""
    notes: tuple[str, ...] = ()
    """What of it is damaged, a sentence for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Everything that was found."""

    where: str
    """What messages call the place."""
    scored: tuple[ScoredRun, ...] = ()
    reported: tuple[StoredRun, ...] = ()
    """Runs of sources that state numbers only."""
    lacking: tuple[StoredRun, ...] = ()
    """Runs without the score that is asked for."""
    replaced: tuple[StoredRun, ...] = ()
    """Runs in whose place another grading of the same answers counts."""
    damaged: tuple[LeftOut, ...] = ()
    """Entries that cannot be read, so that little is known of them."""
    notes: tuple[str, ...] = ()
    problem_ids: tuple[str, ...] = ()
    """All problems of the benchmark, where a file of its rows was given."""
    facts: Callable[[StoredRun], KnownFacts] = lambda run: KnownFacts()
    """What is known of the problems of one of these runs."""

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
            lacking=tuple(run for run in self.lacking if fits(run)),
            replaced=tuple(run for run in self.replaced if fits(run)),
        )

    def left_out(self, score: Score | None) -> tuple[LeftOut, ...]:
        """What is in no table, each with the reason; ``score`` is the one that was asked for."""
        lacking = [
            LeftOut(entry=run.entry, model=run.model, reason=f"It has no score {score}, only {_has(run)}.")
            for run in self.lacking
        ]
        replaced = [
            LeftOut(entry=run.entry, model=run.model, reason="Another grading of the same run counts in its place.")
            for run in self.replaced
        ]
        return (*lacking, *replaced, *self.damaged)

    def with_(self, other: "Sources") -> "Sources":
        """Both together."""
        own = {run.entry for run in self.runs}
        return Sources(
            where=f"{self.where} and {other.where}",
            scored=self.scored + other.scored,
            reported=self.reported + other.reported,
            lacking=self.lacking + other.lacking,
            replaced=self.replaced + other.replaced,
            damaged=self.damaged + other.damaged,
            notes=self.notes + other.notes,
            problem_ids=self.problem_ids or other.problem_ids,
            facts=lambda run: self.facts(run) if run.entry in own else other.facts(run),
        )

    def problem_facts(self, runs: Sequence[ScoredRun]) -> KnownFacts:
        """What is known of the problems of some runs of the same problems: as the first has it, own runs first."""
        notes: list[str] = []
        for run in first_hand_first(one.run for one in runs)[:_ASKED]:
            found = self.facts(run)
            notes += found.notes
            if found.facts:
                return KnownFacts(found.facts, tuple(notes))
        return KnownFacts(notes=tuple(notes))


_ASKED = 3
"""Runs that are asked for what they know of their problems; in one table they know the same or nothing."""


def gather(wanted: Wanted, store: ResultStore) -> Sources:
    """Everything that is asked for: what was named, otherwise all that the store has of the benchmark.

    Raises `UsageError` for a source that cannot be read.
    """
    found: list[Sources] = []
    if wanted.runs:
        runs = every_run(wanted.runs, store, wanted.benchmark)
        found.append(_of_runs(runs, wanted, store, "the results that were named"))
    options = ImportOptions(
        benchmark=wanted.benchmark,
        subset=wanted.subset,
        variant=wanted.variant,
        score=wanted.score,
        dataset=wanted.dataset,
        attempted=wanted.attempted,
    )
    if wanted.resolved is not None:
        found.append(_of_files(from_resolved(wanted.resolved, wanted.benchmark, options)))
    if wanted.verdicts:
        found.append(_of_files(from_verdicts(wanted.verdicts, wanted.benchmark, options)))
    if not wanted.named:
        found.append(_whole_store(wanted, store))
    together = found[0]
    for other in found[1:]:
        together = together.with_(other)
    if wanted.model_facts is None:
        return together
    return _with_stated(together, read_model_facts(wanted.model_facts), store)


def _with_stated(found: Sources, stated: StatedFacts, store: ResultStore) -> Sources:
    """The same runs with what the user states of their models; names that no run here or in the store has are told."""
    return replace(
        found,
        scored=tuple(replace(one, run=stated.laid_over(one.run)) for one in found.scored),
        reported=tuple(stated.laid_over(run) for run in found.reported),
        notes=(*found.notes, *stated.slips(run.model for run in [*found.runs, *store.runs()])),
    )


def _whole_store(wanted: Wanted, store: ResultStore) -> Sources:
    current = store.runs(benchmark=wanted.benchmark)
    entries = {run.entry for run in current}
    replaced = [run for run in store.runs(benchmark=wanted.benchmark, superseded=True) if run.entry not in entries]
    models = Counter(run.model for run in current)

    def read(run: StoredRun) -> StoredRun:
        # Manifests are read where they decide something: how an agent or a patch was judged, which runs to pool.
        decides = run.evaluation or Score.PATCH in run.scores or models[run.model] > 1
        return store.with_manifest(run) if decides else run

    runs, unclear = _of_clear_making(store.sound(current, read))
    found = _of_runs(runs, wanted, store, f"the store {store.layout.root}", skip_damaged=True)
    damaged = [LeftOut(entry=entry, model="", reason=reason) for entry, reason in sorted(store.damaged.items())]

    def facts(run: StoredRun) -> KnownFacts:
        try:
            return KnownFacts(store.problem_facts(run.entry))
        except DamagedError as error:  # its verdicts are sound all the same
            return KnownFacts(notes=(f"Not used: {error}",))

    return replace(found, replaced=tuple(replaced), damaged=(*damaged, *unclear), facts=facts)


def _of_clear_making(runs: Sequence[StoredRun]) -> tuple[list[StoredRun], list[LeftOut]]:
    """The runs of which it can be told how they came about, and the others, each with the reason."""
    clear, unclear = [], []
    for run in runs:
        try:
            evaluation_of(run)
        except UsageError as error:
            unclear.append(LeftOut(entry=run.entry, model=run.model, reason=str(error)))
        else:
            clear.append(run)
    return clear, unclear


def _of_runs(
    runs: Sequence[StoredRun], wanted: Wanted, store: ResultStore, where: str, *, skip_damaged: bool = False
) -> Sources:
    """Runs of the store, or lent to it; those without the score that is asked for are left out."""
    others = [run for run in runs if run.benchmark != wanted.benchmark]
    if others:
        raise UsageError(
            f"{others[0].model} ({others[0].entry[:12]}) is a result of {others[0].benchmark}, not of "
            f"{wanted.benchmark}; leave it out, or rank that benchmark."
        )
    fit = [run for run in runs if not run.reported_only and wanted.score in (None, *run.scores)]
    lacking = [run for run in runs if not run.reported_only and wanted.score not in (None, *run.scores)]
    return Sources(
        where=where,
        scored=tuple(store.scored(fit, wanted.score, skip_damaged=skip_damaged)),
        reported=tuple(run for run in runs if run.reported_only),
        lacking=tuple(lacking),
        facts=lambda run: KnownFacts(store.problem_facts(run.entry)),
    )


def _has(run: StoredRun) -> str:
    return ", ".join(score.value for score in run.scores)


def _of_files(found: FromFiles) -> Sources:
    return Sources(
        where=found.where,
        scored=found.runs,
        notes=found.notes,
        problem_ids=found.problem_ids,
        facts=lambda run: KnownFacts(found.facts),
    )
