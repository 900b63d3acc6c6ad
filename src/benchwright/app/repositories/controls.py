"""Control runs of repository problems: no patch must fail, the reference must resolve; behind ``bw bench check``."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.app.repositories.exclusions import applied, update_own_list
from benchwright.app.repositories.selection import Selection, environments_in_use
from benchwright.app.repositories.setups import select
from benchwright.app.workspace import Workspace
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.repositories import (
    ControlSummary,
    RepositoryControls,
    RepositoryJob,
    RepositoryProblem,
    RepositoryRecord,
    Rules,
)
from benchwright.execution.repositories import HARNESS_VERSION
from benchwright.grading.repositories import RepositoryPipeline, run_in_threads
from benchwright.store.records import RecordStore


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryCheckOptions:
    """Which instances to control, and how often."""

    selection: Selection
    workers: int
    repeats: int = 1
    again: bool = False
    """Whether instances with stored control runs of enough repeats are run again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryCheckReport:
    """What the control runs of the chosen instances say, stored ones included."""

    benchmark: str
    sandbox: str
    executed: int
    """Instances that were run now."""
    controls: tuple[RepositoryControls, ...]
    unavailable: tuple[tuple[str, str], ...]
    """Instance, and why its environment cannot be had here."""
    lost: tuple[str, ...]
    """Instances whose sandbox kept breaking: nothing was learnt of them."""
    exclusions: Path | None
    """The list of those that do not run reliably here; None when there is none of them."""

    def to_plain(self) -> dict[str, Any]:
        """The report as the object of ``bw bench check --json``."""
        return {
            "benchmark": self.benchmark,
            "sandbox": self.sandbox,
            "problems": len(self.controls),
            "executed": self.executed,
            "sound": [c.problem_id for c in self.controls if c.sound and c.stable],
            "unsound": [{"problem_id": c.problem_id, "why": flaw(c)} for c in self.controls if flaw(c)],
            "unavailable": [{"problem_id": problem, "why": why} for problem, why in self.unavailable],
            "lost": list(self.lost),
            "exclusions": str(self.exclusions) if self.exclusions else None,
            "controls": [_plain(control) for control in self.controls],
        }


def flaw(controls: RepositoryControls) -> str:
    """What is wrong with an instance here, in one clause; empty when nothing is."""
    if not controls.stable:
        return "repeats of the same run differ"
    failed = next((run for run in controls.reference if not run.resolved), None)
    if failed is not None:
        return f"the reference does not resolve it: {failed.detail}"
    if any(run.resolved for run in controls.empty):
        return "it is resolved without a patch"
    return ""


def check_repositories(
    options: RepositoryCheckOptions, workspace: Workspace, report: Callable[[int, int], None]
) -> RepositoryCheckReport:
    """Run the control runs that are not stored yet, store each instance's as they complete, and report all.

    Instances that do not run reliably are written to the user's own exclusion list, with what was seen.  Raises
    `UsageError` for input that cannot be used and `MachineError` when the machine stands in the way.
    """
    if options.repeats < 1:
        raise UsageError(f"--repeats must be at least 1, not {options.repeats}.")
    with environments_in_use(options.selection, workspace):
        return _check(options, workspace, report)


def _check(
    options: RepositoryCheckOptions, workspace: Workspace, report: Callable[[int, int], None]
) -> RepositoryCheckReport:
    selected = select(options.selection, workspace)
    pipeline = RepositoryPipeline(selected.setups, rules=Rules.BENCHWRIGHT, limits=options.selection.limits)
    # Where a list mends an instance's tests, it is the mended ones that must run reliably.
    mended = {item.after.id: item.after for item in applied(None, selected.problems, workspace).mended}
    problems = [mended.get(problem.id, problem) for problem in selected.available]
    with workspace.records() as store:
        stored = {} if options.again else _stored(problems, pipeline, store, options.repeats)
        waiting = [problem for problem in problems if problem.id not in stored]
        made = run_controls(waiting, pipeline, store, workers=options.workers, repeats=options.repeats, report=report)
        stored |= {control.problem_id: control for control in made}
    controls = tuple(stored[problem.id] for problem in problems if problem.id in stored)
    return RepositoryCheckReport(
        benchmark=selected.problems.benchmark,
        sandbox=options.selection.sandbox,
        executed=len(waiting),
        controls=controls,
        unavailable=tuple(selected.unavailable.items()),
        lost=tuple(problem.id for problem in problems if problem.id not in stored),
        exclusions=update_own_list(
            selected.problems.benchmark, [(control, flaw(control)) for control in controls], workspace
        ),
    )


def _stored(
    problems: Iterable[RepositoryProblem], pipeline: RepositoryPipeline, store: RecordStore, repeats: int
) -> dict[str, RepositoryControls]:
    found = {}
    for problem in problems:
        control = stored_control(problem, pipeline, store)
        if control is not None and len(control.reference) >= repeats:
            found[problem.id] = control
    return found


def stored_control(
    problem: RepositoryProblem, pipeline: RepositoryPipeline, store: RecordStore
) -> RepositoryControls | None:
    """The control runs of an instance in its environment here and within these limits, if they were made."""
    return store.repository_controls(*pipeline.control_key(problem))


def run_controls(
    problems: Sequence[RepositoryProblem],
    pipeline: RepositoryPipeline,
    store: RecordStore,
    *,
    workers: int,
    repeats: int,
    report: Callable[[int, int], None],
) -> Iterator[RepositoryControls]:
    """Run reference and no patch as often as asked for, and store what they show.

    Where the reference does not resolve an instance today, but does when its tests are told that it is the day of the
    row, its controls are those of that day.  An instance whose sandbox kept breaking is left out: nothing was learnt
    of it.
    """
    doubtful = []
    for control in _run_controls(problems, pipeline, store, workers=workers, repeats=repeats, report=report):
        if any(not run.resolved for run in control.reference) and day_of(_problem(problems, control)):
            doubtful.append(control)
        else:
            store.put_repository_controls(control)
            yield control
    again = [_problem(problems, control) for control in doubtful]
    then = _run_controls(again, pipeline, store, workers=workers, repeats=repeats, report=report, dated=True)
    sound = {control.problem_id: control for control in then if control.sound}
    for control in doubtful:
        found = sound.get(control.problem_id, control)
        store.put_repository_controls(found)
        yield found


def day_of(problem: RepositoryProblem) -> str:
    """The day of a row, as ``2020-05-01``; empty when the row has none."""
    found = re.match(r"\d{4}-\d\d-\d\d", problem.created_at)
    return found[0] if found else ""


def _problem(problems: Iterable[RepositoryProblem], control: RepositoryControls) -> RepositoryProblem:
    return next(problem for problem in problems if problem.id == control.problem_id)


def _run_controls(
    problems: Sequence[RepositoryProblem],
    pipeline: RepositoryPipeline,
    store: RecordStore,
    *,
    workers: int,
    repeats: int,
    report: Callable[[int, int], None],
    dated: bool = False,
) -> Iterator[RepositoryControls]:
    jobs = [
        pipeline.job(problem, patch, repeat=repeat, date=day_of(problem) if dated else "")
        for problem in problems
        for repeat in range(repeats)
        for patch in (problem.reference_patch, "")
    ]
    runs: dict[str, list[tuple[RepositoryJob, RepositoryRecord]]] = {}
    for done, pair in enumerate(run_in_threads(jobs, pipeline.run, workers, stop=pipeline.stop), 1):
        if not pair[1].lost_reason:
            store.put_repository(pair[1])  # the evidence behind what the summary says
        own = runs.setdefault(pair[0].problem.id, [])
        own.append(pair)
        report(done, len(jobs))
        if len(own) == 2 * repeats and not any(record.lost_reason for _, record in own):
            yield _controls(own, pipeline)


def _controls(
    runs: Sequence[tuple[RepositoryJob, RepositoryRecord]], pipeline: RepositoryPipeline
) -> RepositoryControls:
    summaries: dict[bool, list[ControlSummary]] = {True: [], False: []}
    for job, record in runs:
        summaries[bool(job.patch)].append(pipeline.control(job.problem, record))
    job = runs[0][0]
    return RepositoryControls(
        problem_id=job.problem.id,
        problem_digest=job.problem.digest,
        environment=pipeline.control_key(job.problem)[0],
        sandbox=job.sandbox,
        harness_version=HARNESS_VERSION,
        reference=tuple(summaries[True]),
        empty=tuple(summaries[False]),
        date=job.date,
    )


def _plain(control: RepositoryControls) -> dict[str, Any]:
    return {
        "problem_id": control.problem_id,
        "sound": control.sound,
        "stable": control.stable,
        "date": control.date,
        "reference": [run.resolved for run in control.reference],
        "empty": [run.resolved for run in control.empty],
        "wall_seconds": max(run.wall_seconds for run in control.reference),
        "cpu_seconds": max(run.cpu_seconds for run in control.reference),
        "memory_peak_bytes": max(run.memory_peak_bytes for run in control.reference),
        "digest": digest_of(control.to_plain()),
    }
