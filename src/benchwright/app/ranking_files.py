"""Results of others out of files that were named, to be ranked without a store."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchwright.app.importing_base import Imported, ImportOptions
from benchwright.app.importing_bigcodebench import import_verdicts
from benchwright.app.importing_reports import import_report
from benchwright.app.importing_submissions import resolved_runs
from benchwright.benchmarks.bigcodebench.loading import BENCHMARK_NAME
from benchwright.benchmarks.bigcodebench.official_verdicts import read_naming
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS
from benchwright.core.errors import UsageError
from benchwright.core.results import ProblemFacts, ScoredRun

_PATTERNS = ("*eval_results.json", "*eval_results.json.gz", "*verdicts.json", "*verdicts.json.gz")
"""Names of verdict files that are looked for in folders."""


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
        notes=found.notes,
        problem_ids=found.resolved.problem_ids,
        facts=found.facts,
    )


def from_verdicts(paths: Sequence[Path], benchmark: str, options: ImportOptions) -> FromFiles:
    """Official verdict files of BigCodeBench, and reports of SWE-bench's harness, of one subset and variant.

    In a folder, all files are taken whose names are those of verdict files; those whose names say another subset or
    variant are passed over, and counted in a note.

    Raises:
        UsageError: There is no such file, or one cannot be used.
    """
    if benchmark in REPOSITORY_BENCHMARKS.names():
        return _together(paths, [import_report(path, options) for path in paths])
    if benchmark != BENCHMARK_NAME:
        raise UsageError(f"Nothing is known of official verdict files of {benchmark}; grade the answers instead.")
    files = [file for path in paths for file in _files(path)]
    named = [(file, read_naming(file)) for file in files]
    wanted = [
        file
        for file, naming in named
        if options.subset in (None, naming.subset or options.subset)
        and options.variant in (None, naming.variant or options.variant)
    ]
    if not wanted:
        asked = ", ".join(word for word in (options.subset, options.variant) if word)
        raise UsageError(
            f"None of the {len(files)} verdict files is of {benchmark} ({asked}); choose with --subset and --variant."
        )
    found = _together(paths, [import_verdicts(file, options) for file in wanted])
    passed_over = len(files) - len(wanted)
    note = (f"{passed_over} verdict files of other subsets or variants are not looked at.",) if passed_over else ()
    return FromFiles(where=found.where, runs=found.runs, notes=(*found.notes, *note))


def _together(paths: Sequence[Path], found: Iterable[Imported]) -> FromFiles:
    every = list(found)
    return FromFiles(
        where=", ".join(path.name for path in paths),
        runs=tuple(run.scored for one in every for run in one.runs),
        notes=tuple(dict.fromkeys(note for one in every for note in (*one.notes, *one.left_out))),
    )


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted({file for pattern in _PATTERNS for file in path.rglob(pattern)})
    if not found:
        raise UsageError(f"{path} holds no verdict files; expected names like {' or '.join(_PATTERNS[::2])}.")
    return found
