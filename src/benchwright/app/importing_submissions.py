"""Lists of what public submissions resolved, as runs that can be ranked: behind ``bw rank BENCH --resolved FILE``."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple

from benchwright.app.importing_base import (
    Imported,
    ImportedRun,
    ImportOptions,
    Kind,
    Place,
    facts_file,
    repository_benchmark,
    repository_place,
    row_of,
    run_of,
)
from benchwright.benchmarks.facts import facts_of
from benchwright.benchmarks.swebench.instance_ids import instance_of, read_instances
from benchwright.benchmarks.swebench.submissions import Attempted, Resolved, read_resolved
from benchwright.core.errors import UsageError
from benchwright.core.results import UNSTATED, ProblemFacts, ScoredRun, Source
from benchwright.core.runs import Score
from benchwright.core.verdicts import Outcome, Reason
from benchwright.judging.imported import imported_verdict

PARTIAL = "partial?"
"""Flag of a submission that was apparently made for another split alone."""
_LISTED = imported_verdict(Outcome.PASSED, Reason.ALL_TESTS_PASSED, "listed as resolved")
_NOT_LISTED = imported_verdict(Outcome.FAILED, Reason.NOT_STATED, "not listed as resolved")
# Submissions to the public leaderboard are named by day and system, such as 20240620_sweagent_claude3.5sonnet.
_DAY = re.compile(r"(\d{4})(\d{2})(\d{2})_")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRuns:
    """The submissions of a list, ready for ratings and tables."""

    resolved: Resolved
    runs: tuple[ScoredRun, ...]
    """Sorted by name; instances that were not played are not among a run's tallies."""
    notes: tuple[str, ...]
    """What a reader must know, one sentence each."""
    facts: Mapping[str, ProblemFacts]
    """What is known of the instances, by id: the repository at least, where the id says it."""


def resolved_runs(
    path: Path,
    *,
    benchmark: str,
    subset: str = "all",
    version: str = UNSTATED,
    dataset: Path | None = None,
    problem_ids: Sequence[str] | None = None,
    attempted: Attempted = Attempted.ALL,
    source_title: str = "",
    source_url: str = "",
) -> ResolvedRuns:
    """Read a list ``{instance: [submissions]}`` as one run per submission, origin *imported*; nothing is stored.

    Args:
        path: The list, as JSON, gzip or not.
        benchmark: Name of the benchmark that the instances are of.
        subset: Which part of it.
        version: Of its data, where that is known.
        dataset: File that says which instances are the benchmark's: rows with an ``instance_id``, or ids.
        problem_ids: The same, if they are at hand; wins over ``dataset``.  Without both, all that the list names.
        attempted: Which instances apparently partial submissions are taken to have tried.
        source_title: What readers are shown as the source; without it the file's name.
        source_url: Where it is from.

    Raises:
        UsageError: A file cannot be used, or they do not belong together.
    """
    options = ImportOptions(
        subset=subset,
        version=version,
        dataset=dataset,
        attempted=attempted,
        source_title=source_title or None,
        source_url=source_url or None,
    )
    given = _instances(options) if problem_ids is None else [instance_of(problem_id) for problem_id in problem_ids]
    found = _read(path, given)
    return ResolvedRuns(
        resolved=found.resolved,
        runs=tuple(run.scored for run in _runs(found, benchmark, options)),
        notes=_notes(found.resolved, benchmark, attempted),
        facts={one.id: one for one in found.instances},
    )


def import_resolved(path: Path, options: ImportOptions) -> Imported:
    """The same, to be stored; raises `UsageError` also when no benchmark is named, and for a model the list lacks."""
    benchmark = repository_benchmark(options, path)
    found = _read(path, _instances(options))
    runs = tuple(run for run in _runs(found, benchmark, options) if options.model in (None, run.run.model))
    if not runs:
        raise UsageError(f"{path} has {len(found.resolved.solved)} submissions, and {options.model!r} is none of them.")
    return Imported(runs=runs, notes=_notes(found.resolved, benchmark, options.attempted))


def _notes(resolved: Resolved, benchmark: str, attempted: Attempted) -> tuple[str, ...]:
    """What a reader must know; first of all whether these are the benchmark's instances."""
    if not resolved.ids_from_file:
        return resolved.notes(attempted)
    size = facts_of(benchmark).problems
    has = "" if size is None else f", though {benchmark} has {size:,}"
    first = (
        f"Nothing said which instances are the benchmark's, so all {len(resolved.problem_ids):,} that "
        f"{resolved.path.name} names are taken{has}; give --dataset FILE with the benchmark's rows, or a list of ids."
    )
    return (first, *resolved.notes(attempted))


class _Found(NamedTuple):
    resolved: Resolved
    instances: tuple[ProblemFacts, ...]


def _instances(options: ImportOptions) -> Sequence[ProblemFacts] | None:
    return None if options.dataset is None else read_instances(options.dataset)


def _read(path: Path, given: Sequence[ProblemFacts] | None) -> _Found:
    resolved = read_resolved(path, None if given is None else [one.id for one in given])
    known = {one.id: one for one in given or ()}
    return _Found(resolved, tuple(known.get(one) or instance_of(one) for one in resolved.problem_ids))


def _runs(found: _Found, benchmark: str, options: ImportOptions) -> tuple[ImportedRun, ...]:
    resolved = found.resolved
    source = Source(
        kind=Kind.SWEBENCH_RESOLVED.value,
        title=options.source_title or resolved.path.name,
        url=options.source_url or "",
        files=((resolved.path.name, resolved.sha256),),
        note=" ".join(_notes(resolved, benchmark, options.attempted)),
    )
    place = repository_place(options, benchmark)
    files = {resolved.path.name: resolved.path, **facts_file(found.instances)}
    return tuple(
        dataclasses.replace(_run(resolved, name, place, source, options), files=files) for name in resolved.solved
    )


def _run(resolved: Resolved, name: str, place: Place, source: Source, options: ImportOptions) -> ImportedRun:
    solved = resolved.solved[name]
    rows = tuple(
        row_of(problem_id, Score.PATCH, _LISTED if problem_id in solved else _NOT_LISTED)
        for problem_id in resolved.played(name, options.attempted)
    )
    run = run_of(
        place,
        source,
        rows,
        model=name,
        scaffold=options.scaffold or "",
        flags=(PARTIAL,) if name in resolved.partial else (),
        finished=day_in_name(name),
    )
    return ImportedRun(run=run, rows=rows)


def day_in_name(name: str) -> str:
    """The day that a submission's name begins with, ISO 8601, or nothing."""
    found = _DAY.match(name)
    try:
        return date(*map(int, found.groups())).isoformat() if found else ""
    except ValueError:
        return ""
