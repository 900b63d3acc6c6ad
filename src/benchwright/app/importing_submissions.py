"""Lists of what public submissions resolved, as runs that can be ranked: behind ``bw rank BENCH --resolved FILE``."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from benchwright.benchmarks.swebench.instance_ids import read_instance_ids
from benchwright.benchmarks.swebench.submissions import Attempted, Resolved, read_resolved
from benchwright.core.digest import digest_of
from benchwright.core.results import Origin, ScoredRun, Source, StoredRun, Tally
from benchwright.core.runs import Score

KIND = "swebench-resolved"
PARTIAL = "partial?"
"""Flag of a submission that was apparently made for another split alone."""
UNSTATED = "unstated"
"""Version of the benchmark's data where a source does not say which it used."""

_SOLVED, _NOT_SOLVED = Tally(scored=1, passed=1), Tally(scored=1, passed=0)
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
    if problem_ids is None and dataset is not None:
        problem_ids = read_instance_ids(dataset)
    resolved = read_resolved(path, problem_ids)
    notes = resolved.notes(attempted)
    source = Source(
        kind=KIND,
        title=source_title or path.name,
        url=source_url,
        files=((path.name, resolved.sha256),),
        note=" ".join(notes),
    )
    runs = tuple(
        _run(resolved, name, attempted, source, benchmark=benchmark, subset=subset, version=version)
        for name in resolved.solved
    )
    return ResolvedRuns(resolved=resolved, runs=runs, notes=notes)


def _run(
    resolved: Resolved, name: str, attempted: Attempted, source: Source, *, benchmark: str, subset: str, version: str
) -> ScoredRun:
    solved = resolved.solved[name]
    tallies = {
        problem_id: _SOLVED if problem_id in solved else _NOT_SOLVED for problem_id in resolved.played(name, attempted)
    }
    identity = digest_of([KIND, benchmark, subset, version, name, resolved.sha256, _identity(tallies)])
    run = StoredRun(
        entry=identity,
        run_id=identity,
        origin=Origin.IMPORTED,
        source=source,
        benchmark=benchmark,
        version=version,
        subset=subset,
        variant="patch",
        model=name,
        scores=(Score.PATCH,),
        problems=len(tallies),
        solved=len(solved),
        flags=(PARTIAL,) if name in resolved.partial else (),
        finished=_day(name),
    )
    return ScoredRun(run=run, score=Score.PATCH, tallies=tallies)


def _identity(tallies: Mapping[str, Tally]) -> list[list[object]]:
    """What tells two sets of tallies apart, as plain data."""
    return [[problem_id, tally.scored, tally.passed] for problem_id, tally in sorted(tallies.items())]


def _day(name: str) -> str:
    """The day that a submission's name begins with, or nothing."""
    found = _DAY.match(name)
    try:
        return date(*map(int, found.groups())).isoformat() if found else ""
    except ValueError:
        return ""
