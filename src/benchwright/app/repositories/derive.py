"""Make an instance out of a merged change: the use case behind ``bw bench derive``."""

import dataclasses
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchwright.app.repositories.places import places_of
from benchwright.app.repositories.selection import Selection, environments_in_use, environments_of
from benchwright.app.repositories.setups import setup_for
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.swebench.rows import to_problem, to_row
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.execution import ExitCause
from benchwright.core.repositories import TESTS_STEP, RepositoryLimits, RepositoryProblem, RepositoryRecord, Rules
from benchwright.environments.repositories.changes import Change, read_change
from benchwright.grading.repositories import RepositoryPipeline, Setup, run_in_threads
from benchwright.judging.repository import tests_seen

BENCHMARK = "repositories"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeriveOptions:
    """Which change, and how its instance is to be named and run."""

    repo: str
    """``owner/name``."""
    place: Path
    commit: str
    version: str
    """Names the environment's specification together with ``repo``."""
    out: Path
    """File of JSON lines that the row is added to."""
    workers: int
    repeats: int = 3
    issue: Path | None = None
    """File with the problem statement; None takes the commit's message."""
    instance_id: str | None = None
    sandbox: str = "namespace"
    specs: Path | None = None
    limits: RepositoryLimits = dataclasses.field(default_factory=RepositoryLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """The row, and what its runs showed."""

    problem: RepositoryProblem
    unstable: tuple[str, ...]
    """Tests whose runs of the same code differ; in neither list."""
    broken: tuple[str, ...]
    """Tests that pass before and not after; in neither list."""
    runs: int
    out: Path

    def to_plain(self) -> dict[str, Any]:
        """The result as the object of ``bw bench derive --json``."""
        return {
            "instance_id": self.problem.id,
            "base_commit": self.problem.base_commit,
            "fail_to_pass": list(self.problem.fail_to_pass),
            "pass_to_pass": list(self.problem.pass_to_pass),
            "unstable": list(self.unstable),
            "broken": list(self.broken),
            "runs": self.runs,
            "out": str(self.out),
        }


def derive(
    options: DeriveOptions, workspace: Workspace, report: Callable[[str], None], progress: Callable[[int, int], None]
) -> Derived:
    """Split the change, build the environment, run the tests before and after it, and add the row to the file.

    A test is FAIL_TO_PASS when every run with the change passes it and none without does, PASS_TO_PASS when all do.

    Raises:
        UsageError: The change makes no instance: no tests, nothing that turns green, an id that the file has.
        MachineError: The environment cannot be built, or the sandbox kept breaking.
    """
    if options.repeats < 1:
        raise UsageError(f"--repeats must be at least 1, not {options.repeats}.")
    known = _known_ids(options.out)
    change = read_change(options.repo, options.place, options.commit, clones=workspace.home / "repositories" / "clones")
    draft = _draft(options, change)
    if draft.id in known:
        raise UsageError(f"{options.out} has {draft.id} already; remove that line or give another --id or --out.")
    derived = _with_tests(draft, options, workspace, report, progress)
    _add_row(options.out, to_row(derived.problem))
    return derived


def _draft(options: DeriveOptions, change: Change) -> RepositoryProblem:
    statement = _text_of(options.issue) if options.issue else change.message
    name = options.repo.replace("/", "__")
    row = {
        "instance_id": options.instance_id or f"{name}-{change.number or change.commit[:10]}",
        "repo": options.repo,
        "version": options.version,
        "base_commit": change.base,
        "problem_statement": statement,
        "created_at": change.date,
        "patch": change.source_patch,
        "test_patch": change.test_patch,
        "FAIL_TO_PASS": ["not run yet"],
        "PASS_TO_PASS": [],
    }
    return to_problem(row, benchmark=BENCHMARK, where="the derived row")


def _text_of(issue: Path) -> str:
    try:
        return issue.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The issue {issue} cannot be read ({error}); give a file of UTF-8 text.") from error


def _known_ids(out: Path) -> set[str]:
    """The ids of the file that a row is to be added to; asked for before anything is built or run."""
    if not out.absolute().parent.is_dir():
        raise UsageError(f"There is no folder {out.absolute().parent} for --out; make it first.")
    try:
        lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
        return {json.loads(line)["instance_id"] for line in lines if line.strip()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{out} is no file of rows, one JSON object a line ({error}); give another --out.") from error


def _add_row(out: Path, row: dict[str, Any]) -> None:
    try:
        with out.open("a+b") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            begun = file.read(1) not in (b"", b"\n")
            file.write(b"\n" * begun + json.dumps(row).encode() + b"\n")
    except OSError as error:
        raise MachineError(f"The row could not be added to {out} ({error.strerror}); nothing else was lost.") from error


def _with_tests(
    draft: RepositoryProblem,
    options: DeriveOptions,
    workspace: Workspace,
    report: Callable[[str], None],
    progress: Callable[[int, int], None],
) -> Derived:
    selection = Selection(
        benchmark=BENCHMARK,
        sandbox=options.sandbox,
        sources={options.repo: str(options.place)},
        specs=options.specs,
        limits=options.limits,
    )
    environments = environments_of(selection, workspace)
    environments.spec(draft)  # a version that nothing is known of is the caller's mistake, not a build that failed
    built = environments.build([draft], report=report)
    if built.failures:
        raise MachineError(built.failures[0])
    with environments_in_use(selection, workspace):
        setup = setup_for(draft, selection, environments, places_of(selection, environments))
        before, after = _run(draft, setup, options, progress)
    return _judged(draft, before, after, options.out)


def _run(
    draft: RepositoryProblem, setup: Setup, options: DeriveOptions, progress: Callable[[int, int], None]
) -> tuple[list[dict[str, bool]], list[dict[str, bool]]]:
    """What passed in each run without the change, and in each run with it."""
    pipeline = RepositoryPipeline({draft.id: setup}, rules=Rules.BENCHWRIGHT, limits=options.limits)
    jobs = [
        pipeline.job(draft, patch, repeat=repeat)
        for repeat in range(options.repeats)
        for patch in ("", draft.reference_patch)
    ]
    before: list[dict[str, bool]] = []
    after: list[dict[str, bool]] = []
    for done, (job, record) in enumerate(run_in_threads(jobs, pipeline.run, options.workers, stop=pipeline.stop), 1):
        if record.lost_reason:
            raise MachineError(f"The sandbox kept breaking: {record.lost_reason}")
        _refuse_broken_off(draft, record, with_change=bool(job.patch))
        (after if job.patch else before).append(tests_seen(record, setup.parser))
        progress(done, len(jobs))
    return before, after


def _refuse_broken_off(draft: RepositoryProblem, record: RepositoryRecord, *, with_change: bool) -> None:
    """A run that did not come to its own end says nothing of the tests that it did not reach."""
    side = "with the change" if with_change else "before the change"
    if not record.patch_applied:
        raise UsageError(f"The change of {draft.id} does not apply to its own base: {record.patch_message}.")
    step = record.step(TESTS_STEP)
    if step is None or step.exit_cause not in (ExitCause.FINISHED, ExitCause.EXITED):
        cause = step.exit_cause.value.replace("_", " ") if step else "a failed installation"
        raise UsageError(
            f"The tests of {draft.id} {side} were ended by {cause}, so nothing is known of those not reached; give "
            f"more time with --timeout, or another specification."
        )


def _judged(
    draft: RepositoryProblem, before: list[dict[str, bool]], after: list[dict[str, bool]], out: Path
) -> Derived:
    """The row with its test lists, out of what passed in each run."""
    names = list(dict.fromkeys(name for run in (*after, *before) for name in run))
    unstable = [name for name in names if _differs(name, before) or _differs(name, after)]
    steady = [name for name in names if name not in unstable]
    passed_before = {name for name in steady if before[0].get(name, False)}
    passed_after = {name for name in steady if after[0].get(name, False)}
    turned = [name for name in steady if name in passed_after and name not in passed_before]
    if not turned:
        raise UsageError(
            f"No test of {draft.id} fails before the change and passes after it ({len(passed_after)} pass after, "
            f"{len(passed_before)} before, {len(unstable)} differ between runs); it makes no instance."
        )
    row = to_row(draft) | {
        "FAIL_TO_PASS": turned,
        "PASS_TO_PASS": [name for name in steady if name in passed_after and name in passed_before],
    }
    return Derived(
        problem=to_problem(row, benchmark=BENCHMARK, where="the derived row"),
        unstable=tuple(unstable),
        broken=tuple(name for name in steady if name in passed_before and name not in passed_after),
        runs=len(before) + len(after),
        out=out,
    )


def _differs(name: str, runs: list[dict[str, bool]]) -> bool:
    return len({run.get(name, False) for run in runs}) > 1
