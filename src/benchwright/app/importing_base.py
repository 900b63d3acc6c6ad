"""What all imports have in common: the user's options, and runs with their rows before they are stored."""

import dataclasses
import enum
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS, named_few
from benchwright.benchmarks.swebench.submissions import Attempted
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.results import (
    UNSTATED,
    ModelFacts,
    Origin,
    ProblemFacts,
    ScoredRun,
    Source,
    StoredRun,
    tallies_of_rows,
)
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.judging.imported import imported_verdict
from benchwright.store.folder import PROBLEMS
from benchwright.store.row_facts import facts_of_rows


class Kind(enum.StrEnum):
    """The forms of results that can be imported; what a `Source` says that it was read from."""

    BIGCODEBENCH_VERDICTS = "bigcodebench-verdicts"
    """``<samples>_eval_results.json`` of the official harness, or a folder with such files."""
    BIGCODEBENCH_LEADERBOARD = "bigcodebench-leaderboard"
    """The public leaderboard: scores by model."""
    SWEBENCH_RESOLVED = "swebench-resolved"
    """``{instance: [submissions that resolved it]}``."""
    SWEBENCH_SUBMISSION = "swebench-submission"
    """Folders of the experiments repository: ``<submission>/results/results.json``."""
    SWEBENCH_REPORT = "swebench-report"
    """The official harness's report on a run, or its folder of reports on each instance."""
    INSPECT_LOG = "inspect-log"
    """An Inspect log of somebody else's task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """What the user says of a source, where it does not say so itself; None leaves it to the source."""

    benchmark: str | None = None
    subset: str | None = None
    variant: str | None = None
    version: str | None = None
    """Of the benchmark's data."""
    model: str | None = None
    scaffold: str | None = None
    score: Score | None = None
    source_title: str | None = None
    source_url: str | None = None
    dataset: Path | None = None
    """Rows or ids of the benchmark's problems."""
    samples: Path | None = None
    """Sample file that a file of official verdicts is about."""
    scorer: str | None = None
    """Scorer of an Inspect log whose samples have several scores."""
    attempted: Attempted = Attempted.ALL
    """Which instances apparently partial submissions are taken to have tried."""
    ignore_unknown: bool = False
    """Leave out results for problems that the benchmark does not have, instead of refusing them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """A run as it will be stored."""

    run: StoredRun
    rows: tuple[ResultRow, ...] = ()
    """Empty for a run of which the source states scores only."""
    files: Mapping[str, Path | bytes] = field(default_factory=dict)
    """What is kept beside it, by name."""

    @property
    def scored(self) -> ScoredRun:
        """The run under its score, to be ranked without a store, where nothing names it: it gets a name of its own.

        Raises `UsageError` when it has no rows.
        """
        if not self.rows:
            raise UsageError(f"{self.run.model}: the source states scores only, without verdicts behind them.")
        tallies = tallies_of_rows(self.rows, self.rows[0].score)
        content = [[one, tally.scored, tally.passed, tally.faults] for one, tally in sorted(tallies.items())]
        run = dataclasses.replace(self.run, entry=digest_of([self.run.run_id, content]))
        return ScoredRun(run=run, score=self.rows[0].score, tallies=tallies)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What was read from one source."""

    runs: tuple[ImportedRun, ...]
    notes: tuple[str, ...] = ()
    """What a reader must know, one sentence each."""
    left_out: tuple[str, ...] = ()
    """What of the source is not among the runs, and why; one sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Which benchmark's results these are."""

    benchmark: str
    version: str
    subset: str
    variant: str


def run_of(
    place: Place,
    source: Source,
    rows: Sequence[ResultRow],
    *,
    model: str,
    scaffold: str = "",
    flags: Iterable[str] = (),
    facts: ModelFacts | None = None,
    finished: str = "",
    cost: float | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> StoredRun:
    """An imported run with these rows, all of one score; its counts are made of them.

    Its identity is of what it is about and where it comes from: the same source read again in a newer state replaces
    what was read before.
    """
    score = rows[0].score
    counts = facts_of_rows(rows, score)
    identity = digest_of([source.kind, source.title, *_plain(place), model, scaffold, score.value])
    return StoredRun(
        entry="",
        run_id=identity,
        origin=Origin.IMPORTED,
        source=source,
        benchmark=place.benchmark,
        version=place.version,
        subset=place.subset,
        variant=place.variant,
        model=model,
        scaffold=scaffold,
        scores=(score,),
        problems=counts.problems,
        samples=counts.samples,
        solved=counts.solved,
        faults=counts.faults,
        missing=counts.missing,
        cost=cost,
        flags=tuple(flags),
        facts=facts or ModelFacts(),
        finished=finished,
        manifest=manifest or {},
    )


def reported_identity(place: Place, source: Source, model: str) -> str:
    """Identity of a run of which the source states scores only."""
    return digest_of([source.kind, source.title, *_plain(place), model])


def _plain(place: Place) -> list[str]:
    return [place.benchmark, place.version, place.subset, place.variant]


def row_of(problem_id: str, score: Score, verdict: Verdict, *, sample: int = 0, wall_seconds: float = 0.0) -> ResultRow:
    """One imported row."""
    return ResultRow(
        problem_id=problem_id,
        sample=sample,
        score=score,
        verdict=verdict,
        job_digest=None,
        wall_seconds=wall_seconds,
    )


def facts_file(facts: Iterable[ProblemFacts]) -> dict[str, Path | bytes]:
    """What is known of the problems, as a file to keep beside the rows, by name; nothing where nothing is known."""
    lines = [json.dumps(one.to_plain()) + "\n" for one in facts if one != ProblemFacts(id=one.id)]
    return {PROBLEMS: "".join(lines).encode()} if lines else {}


def missing_row(problem_id: str, score: Score, detail: str) -> ResultRow:
    """A problem that the source has no result for: it counts as not solved."""
    return row_of(problem_id, score, imported_verdict(Outcome.NO_ANSWER, Reason.MISSING, detail))


def repository_benchmark(options: ImportOptions, path: Path) -> str:
    """The benchmark that the user names for instances; raises `UsageError` without one, and for one that is none."""
    known = REPOSITORY_BENCHMARKS.names()
    if options.benchmark is None:
        raise UsageError(
            f"{path} does not say which benchmark its instances are of; give --benchmark, one of {', '.join(known)}."
        )
    if options.benchmark not in known:
        raise UsageError(
            f"{path} is about repository problems, and {options.benchmark} is not; give --benchmark, one of "
            f"{', '.join(known)}."
        )
    return options.benchmark


def repository_place(options: ImportOptions, benchmark: str) -> Place:
    """The part of a benchmark of repositories that the user names; the whole of it where nothing is said."""
    return Place(
        benchmark=benchmark,
        version=options.version or UNSTATED,
        subset=options.subset or "all",
        variant=options.variant or "patch",
    )


def without_unknown(
    found: Iterable[str], known: Iterable[str], options: ImportOptions, *, where: str, what: str
) -> frozenset[str]:
    """The ids that the benchmark has; raises `UsageError` naming some that it has not, unless they are to be ignored.

    Args:
        found: Ids in the source.
        known: Those of the benchmark.
        options: Says whether unknown ones are ignored.
        where: The source, for the message.
        what: What the benchmark's problems are, such as ``the 148 tasks of bigcodebench hard``.
    """
    found, known = frozenset(found), frozenset(known)
    unknown = sorted(found - known)
    if unknown and (not options.ignore_unknown or not found & known):
        hint = "" if options.ignore_unknown else "; give --ignore-unknown to leave them out"
        raise UsageError(
            f"{where} has results for {len(unknown)} problems that are not among {what} ({named_few(unknown)}){hint}."
        )
    return found & known
