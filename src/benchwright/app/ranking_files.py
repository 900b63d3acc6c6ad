"""Results of others out of files that were named, to be ranked without a store."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchwright.app.importing_base import Imported, ImportOptions
from benchwright.app.importing_reports import import_report
from benchwright.app.importing_submissions import resolved_runs
from benchwright.app.importing_verdict_files import import_verdict_files
from benchwright.benchmarks.bigcodebench.loading import BENCHMARK_NAME
from benchwright.benchmarks.facts import facts_of
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS
from benchwright.benchmarks.swebench.submissions import Resolved
from benchwright.core.errors import UsageError
from benchwright.core.results import ProblemFacts, ScoredRun


@dataclass(frozen=True, slots=True, kw_only=True)
class FromFiles:
    """Runs that files hold."""

    where: str
    runs: tuple[ScoredRun, ...]
    notes: tuple[str, ...]
    problem_ids: tuple[str, ...] = ()
    """The benchmark's problems, where the files or the data say so."""
    facts: Mapping[str, ProblemFacts] = field(default_factory=dict)
    """What is known of them, by id."""


def from_resolved(path: Path, benchmark: str, options: ImportOptions) -> FromFiles:
    """A list of what submissions resolved; raises `UsageError` for a benchmark of functions, and an unreadable file."""
    if benchmark not in REPOSITORY_BENCHMARKS.names():
        known = ", ".join(REPOSITORY_BENCHMARKS.names())
        raise UsageError(
            f"A list of resolved instances is of repository problems, and {benchmark} is not; choose one of: {known}."
        )
    found = resolved_runs(
        path,
        benchmark=benchmark,
        subset=options.subset or REPOSITORY_BENCHMARKS.get(benchmark).subsets[0],
        dataset=options.dataset,
        attempted=options.attempted,
    )
    return FromFiles(
        where=path.name,
        runs=found.runs,
        # Where there are more than the benchmark has, the table says so at its head, and what to do.
        notes=found.notes[1:] if found.resolved.ids_from_file and _too_many(found.resolved, benchmark) else found.notes,
        problem_ids=found.resolved.problem_ids,
        facts=found.facts,
    )


def _too_many(resolved: Resolved, benchmark: str) -> bool:
    size = facts_of(benchmark).problems
    return size is not None and len(resolved.problem_ids) > size


def from_verdicts(paths: Sequence[Path], benchmark: str, options: ImportOptions) -> FromFiles:
    """Official verdict files of BigCodeBench, and reports of SWE-bench's harness, of one subset and variant.

    In a folder, all files are taken whose names are those of verdict files; those whose names say another subset or
    variant are passed over, and counted in a note, as are folders that cannot be read.

    Raises:
        UsageError: There is no such file, one cannot be used, or a folder holds far more than verdicts.
    """
    if benchmark in REPOSITORY_BENCHMARKS.names():
        return _together(paths, [import_report(path, options) for path in paths])
    if benchmark != BENCHMARK_NAME:
        raise UsageError(f"Nothing is known of official verdict files of {benchmark}; grade the answers instead.")
    return _together(paths, [import_verdict_files(paths, options)])


def _together(paths: Sequence[Path], found: Iterable[Imported]) -> FromFiles:
    every = list(found)
    return FromFiles(
        where=", ".join(path.name for path in paths),
        runs=tuple(run.scored for one in every for run in one.runs),
        notes=tuple(dict.fromkeys(note for one in every for note in (*one.notes, *one.left_out))),
    )
