"""Results of others out of files that were named, to be ranked without a store."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchwright.app.importing_base import Imported, ImportOptions
from benchwright.app.importing_bigcodebench import import_verdicts
from benchwright.app.importing_reports import import_report
from benchwright.app.importing_submissions import resolved_runs
from benchwright.benchmarks.bigcodebench.loading import BENCHMARK_NAME
from benchwright.benchmarks.bigcodebench.official_verdicts import read_naming
from benchwright.benchmarks.facts import facts_of
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS
from benchwright.benchmarks.swebench.submissions import Resolved
from benchwright.core.errors import UsageError
from benchwright.core.results import ProblemFacts, ScoredRun

_ENDINGS = ("eval_results.json", "verdicts.json", "eval_results.json.gz", "verdicts.json.gz")
"""How names of verdict files end, which are looked for in folders."""
_MOST_ENTRIES = 50_000
"""Files and folders that are looked at below one folder, which takes a second or two.  The verdicts of two hundred
models with all that their harness wrote are a few thousand; a folder with more was named by mistake."""


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
    found = [_files(path) for path in paths]
    files = [file for one in found for file in one.files]
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
    together = _together(paths, [import_verdicts(file, options) for file in wanted])
    passed_over, unreadable = len(files) - len(wanted), sum(one.unreadable for one in found)
    notes = [
        *together.notes,
        *([f"{passed_over} verdict files of other subsets or variants are not looked at."] if passed_over else []),
        *([f"{unreadable} folders could not be read, and are not looked at."] if unreadable else []),
    ]
    return FromFiles(where=together.where, runs=together.runs, notes=tuple(notes))


def _together(paths: Sequence[Path], found: Iterable[Imported]) -> FromFiles:
    every = list(found)
    return FromFiles(
        where=", ".join(path.name for path in paths),
        runs=tuple(run.scored for one in every for run in one.runs),
        notes=tuple(dict.fromkeys(note for one in every for note in (*one.notes, *one.left_out))),
    )


class _Looked(NamedTuple):
    """What looking for verdict files found."""

    files: Sequence[Path]
    unreadable: int
    """Folders that could not be read."""


def _files(path: Path) -> _Looked:
    """The verdict files below a folder, whatever else happens there meanwhile; or the one that was named."""
    if not path.is_dir():
        return _Looked([path], 0)
    unreadable: list[OSError] = []
    found, entries = [], 0
    for folder, folders, files in os.walk(path, onerror=unreadable.append):
        entries += len(folders) + len(files)
        if entries > _MOST_ENTRIES:
            raise UsageError(
                f"{path} holds more than {_MOST_ENTRIES:,} files and folders; name the folder with the verdict files, "
                f"or the files."
            )
        found += [Path(folder) / name for name in files if name.endswith(_ENDINGS)]
    if not found:
        raise UsageError(f"{path} holds no verdict files; expected names like *{' or *'.join(_ENDINGS[:2])}.")
    gone = [error for error in unreadable if isinstance(error, FileNotFoundError)]
    return _Looked(sorted(found), len(unreadable) - len(gone))
