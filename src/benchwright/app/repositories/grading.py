"""Grade a file of patches: the use case behind ``bw grade`` for repository problems."""

import dataclasses
import enum
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import benchwright
from benchwright.app.job_facts import tests_to_lines
from benchwright.app.problem_facts import facts_of_repository
from benchwright.app.repositories.exclusions import applied, reasons
from benchwright.app.repositories.patches import GradedPatch, PatchGrading, PatchProgress
from benchwright.app.repositories.results import REPOSITORIES
from benchwright.app.repositories.selection import Selection, environments_in_use
from benchwright.app.repositories.setups import Selected, select
from benchwright.app.repositories.summary import RepositorySummary, summarise_patches
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.repositories import REPOSITORY_BENCHMARKS, PatchFile, RepositorySet
from benchwright.benchmarks.swebench.exclusions import Selection as Exclusions
from benchwright.benchmarks.swebench.official import OfficialInstance, status_of, write_official_files
from benchwright.benchmarks.swebench.subsets import NamedSubset, read_subset
from benchwright.core.answers import NoAnswer
from benchwright.core.attempts import Attempt
from benchwright.core.digest import digest_of
from benchwright.core.errors import UsageError
from benchwright.core.repositories import (
    Rules,
)
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Reason
from benchwright.execution.repositories import HARNESS_VERSION
from benchwright.grading.repositories import PreparedPatch, RepositoryPipeline, row_of
from benchwright.judging.repository import REPOSITORY_JUDGE_VERSION, judge_no_patch
from benchwright.store.folder import TESTS, ResultsFolder, now

_SETTLED = frozenset({Reason.PATCH_REJECTED, Reason.EMPTY, Reason.NOT_A_PATCH, Reason.MISSING})


class ControlMode(enum.StrEnum):
    """Which control runs a grading makes."""

    AUTO = "auto"
    """Those that are not stored, of instances whose patch was not resolved: they tell whose fault that is."""
    STORED = "stored"
    """None; stored ones count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchGradeOptions:
    """What to grade and how."""

    selection: Selection
    predictions: Path
    workers: int
    rules: Rules = Rules.BENCHWRIGHT
    controls: ControlMode = ControlMode.AUTO
    exclude: tuple[str, ...] | None = None
    """Names or files of exclusion lists; None takes the shipped ones and the user's own."""
    views: tuple[Path, ...] = ()
    """Further denominators: files of ids."""
    out: Path | None = None
    model: str | None = None
    ignore_unknown: bool = False
    official_files: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchGradeReport:
    """What a grading came to."""

    run_id: str
    folder: Path
    manifest: dict[str, Any]
    summary: RepositorySummary
    rows: tuple[ResultRow, ...] = field(repr=False)
    executed: int
    reused: int
    wall_seconds: float

    @property
    def rows_path(self) -> Path:
        """Where the rows are."""
        return ResultsFolder(self.folder).rows_path


_LONGEST_MODEL = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """Everything a grading reads before it runs anything."""

    problems: RepositorySet
    patches: PatchFile
    selected: Selected
    pipeline: RepositoryPipeline
    exclusions: Exclusions
    views: tuple[NamedSubset, ...]
    manifest: dict[str, Any]


def grade_patches(
    options: PatchGradeOptions, workspace: Workspace, report: Callable[[PatchProgress], None]
) -> PatchGradeReport:
    """Grade every patch of a file, or go on where an earlier grading of the same stopped.

    Raises:
        UsageError: Input that cannot be used; nothing was run or lost.
        MachineError: The machine stands in the way; finished executions are kept.
    """
    with environments_in_use(options.selection, workspace):
        return _grade_patches(options, workspace, report)


def _grade_patches(
    options: PatchGradeOptions, workspace: Workspace, report: Callable[[PatchProgress], None]
) -> PatchGradeReport:
    started = time.monotonic()
    inputs = _read(options, workspace)
    folder = ResultsFolder(options.out or _default_folder(options, inputs))
    with folder.locked():
        folder.refuse_other(inputs.manifest)
        return _grade_into(folder, options, inputs, workspace, report, started)


def grade_run(
    folder: ResultsFolder,
    options: PatchGradeOptions,
    patches: PatchFile,
    facts: Mapping[str, Any],
    workspace: Workspace,
    report: Callable[[PatchProgress], None],
) -> PatchGradeReport:
    """Grade the patches of a run into its own folder, which the caller has locked; what is stored is not run again.

    Args:
        folder: The run's.
        options: As for :func:`grade_patches`; ``predictions`` is only named.
        patches: What the run's agents left so far.
        facts: What the manifest says of the run, over what it says of any grading.
        workspace: Where records and environments are.
        report: Told after every execution.
    """
    started = time.monotonic()
    inputs = _read(options, workspace, patches)
    inputs = dataclasses.replace(inputs, manifest={**inputs.manifest, **facts})
    return _grade_into(folder, options, inputs, workspace, report, started)


def _grade_into(
    folder: ResultsFolder,
    options: PatchGradeOptions,
    inputs: _Inputs,
    workspace: Workspace,
    report: Callable[[PatchProgress], None],
    started: float,
) -> PatchGradeReport:
    with workspace.records() as store:
        folder.write_manifest({**inputs.manifest, "status": "running", "started": now()})
        grading = PatchGrading(
            inputs.pipeline,
            store,
            unavailable=inputs.selected.unavailable,
            workers=options.workers,
            report=report,
        )
        graded, mended = _grade(options, inputs, grading)
        rows = _in_order([*(item.row for item in graded), *_missing(inputs)], inputs.problems)
        summary = summarise_patches(
            rows,
            repositories={problem.id: problem.repo for problem in inputs.problems.problems},
            views=_views(inputs, rows, mended),
            excluded={item.problem.id: reasons(item) for item in inputs.exclusions.excluded},
            mended=[item.after.id for item in inputs.exclusions.mended],
            uncontrolled=[problem.id for problem in inputs.problems.problems if not grading.controlled(problem)],
        )
        folder.write_problem_facts(facts_of_repository(problem) for problem in inputs.problems.problems)
        folder.write_rows(rows)
        setups = inputs.selected.setups
        environments = {problem: setup.environment for problem, setup in setups.items()}
        folder.write_lines(TESTS, tests_to_lines(inputs.problems.problems, environments))
        if options.official_files:
            _write_official(folder.path, inputs, graded)
        wall = time.monotonic() - started
        manifest = {
            "status": "complete",
            **inputs.manifest,
            "finished": now(),
            **summary.to_plain(),
            "executed": grading.executed,
            "reused": grading.reused,
            "wall_seconds": round(wall, 3),
        }
        folder.write_manifest(manifest)
    return PatchGradeReport(
        run_id=str(manifest["run_id"]),
        folder=folder.path,
        manifest=manifest,
        summary=summary,
        rows=tuple(rows),
        executed=grading.executed,
        reused=grading.reused,
        wall_seconds=wall,
    )


def _grade(
    options: PatchGradeOptions, inputs: _Inputs, grading: PatchGrading
) -> tuple[list[GradedPatch], list[GradedPatch]]:
    """All attempts by the published rows, and those of mended instances by the mended ones too."""
    mended = {item.after.id: item.after for item in inputs.exclusions.mended}
    attempts = [(inputs.problems.problem(attempt.problem_id), attempt) for attempt in inputs.patches.attempts]
    again = [(mended[problem.id], attempt) for problem, attempt in attempts if problem.id in mended]
    control = options.controls is ControlMode.AUTO and options.rules is Rules.BENCHWRIGHT
    graded = grading.grade([*attempts, *again], control=control)
    return graded[: len(attempts)], graded[len(attempts) :]


def _missing(inputs: _Inputs) -> list[ResultRow]:
    rows = []
    for problem_id in inputs.patches.missing:
        problem = inputs.problems.problem(problem_id)
        answer = NoAnswer(reason=Reason.MISSING, detail="the file has no prediction for this instance")
        attempt = Attempt(problem_id=problem_id, sample=0, solution=None)
        verdict = judge_no_patch(answer, problem)
        item = PreparedPatch(problem=problem, attempt=attempt, job=None, answer=None, verdict=verdict)
        rows.append(row_of(item, verdict, None))
    return rows


def _in_order(rows: Sequence[ResultRow], problems: RepositorySet) -> list[ResultRow]:
    order = {problem.id: index for index, problem in enumerate(problems.problems)}
    return sorted(rows, key=lambda row: (order[row.problem_id], row.sample))


def _views(inputs: _Inputs, rows: Sequence[ResultRow], mended: Sequence[GradedPatch]) -> dict[str, list[ResultRow]]:
    """Rows by the name of a view; what is kept is judged by the mended test lists."""
    exclusions = inputs.exclusions
    instead = {(item.row.problem_id, item.row.sample): item.row for item in mended}
    found: dict[str, list[ResultRow]] = {}
    if exclusions.lists:
        kept = exclusions.kept.by_id
        found["kept"] = [instead.get((r.problem_id, r.sample), r) for r in rows if r.problem_id in kept]
    for view in inputs.views:
        chosen = view.of(inputs.problems).by_id
        found[view.name] = [row for row in rows if row.problem_id in chosen]
    return found


def _write_official(folder: Path, inputs: _Inputs, graded: Sequence[GradedPatch]) -> None:
    """Write the official harness's files on the first sample of each instance."""
    first = [item for item in graded if item.row.sample == 0]
    write_official_files(
        folder,
        model=str(inputs.manifest["model"]) or "unnamed",
        run_id=str(inputs.manifest["run_id"]),
        problem_ids=inputs.problems.by_id,
        instances=[
            OfficialInstance(
                problem=item.problem, status=status_of(item.row.verdict), passed=item.passed, failed=item.failed
            )
            for item in first
        ],
        attempts=[attempt for attempt in inputs.patches.attempts if attempt.sample == 0],
    )


def _read(options: PatchGradeOptions, workspace: Workspace, patches: PatchFile | None = None) -> _Inputs:
    selection = options.selection
    problems = selection.load()
    patches = patches or _read_patches(options, problems)
    attempted = {attempt.problem_id for attempt in patches.attempts}
    selected = select(selection, workspace, only=attempted)
    exclusions = applied(options.exclude, problems, workspace)
    _check_model(options.model or patches.model)
    views = tuple(read_subset(path) for path in options.views)
    _check_views(views, problems)
    pipeline = RepositoryPipeline(selected.setups, rules=options.rules, limits=selection.limits)
    return _Inputs(
        problems=problems,
        patches=patches,
        selected=selected,
        pipeline=pipeline,
        exclusions=exclusions,
        views=views,
        manifest=_manifest(options, problems, patches, selected, pipeline, exclusions, views),
    )


def _check_model(model: str) -> None:
    """The model's name becomes a file's name, with a run's id and an ending."""
    if "\0" in model or len(model.encode("utf-8", "surrogatepass")) > _LONGEST_MODEL:
        raise UsageError(
            f"The model's name {model[:40]!r} cannot be part of a file's name (it has NUL, or over {_LONGEST_MODEL} "
            f"bytes); give another one with --model."
        )


def _check_views(views: Sequence[NamedSubset], problems: RepositorySet) -> None:
    """Find out before anything runs that a view names an unknown instance, or hides another view."""
    taken = {"all", "kept"}
    for view in views:
        view.of(problems)
        if view.name in taken:
            raise UsageError(f"A view cannot be named {view.name!r}, which another one is; give its file another name.")
        taken.add(view.name)


def _read_patches(options: PatchGradeOptions, problems: RepositorySet) -> PatchFile:
    benchmark = REPOSITORY_BENCHMARKS.get(options.selection.benchmark)
    # A selection by ids leaves the file's other instances alone; without one they are a mistake.
    ignore = options.ignore_unknown or bool(options.selection.ids)
    if options.predictions.suffix == ".eval":
        from benchwright.bridge.patches import (
            read_patch_log,
        )  # only logs need Inspect, which takes two seconds to import

        return read_patch_log(options.predictions, problems, ignore_unknown=ignore)
    return benchmark.read_predictions(options.predictions, problems, ignore_unknown=ignore)


def _manifest(
    options: PatchGradeOptions,
    problems: RepositorySet,
    patches: PatchFile,
    selected: Selected,
    pipeline: RepositoryPipeline,
    exclusions: Exclusions,
    views: Sequence[NamedSubset],
) -> dict[str, Any]:
    limits = options.selection.limits
    identity = {
        "kind": REPOSITORIES,
        "benchmark": problems.benchmark,
        "version": problems.version,
        "data_digest": problems.digest,
        "subset": problems.subset,
        "variant": "patch",
        "ids": sorted(problems.by_id) if options.selection.ids else None,
        "samples_digest": patches.digest,
        "model": options.model or patches.model,
        "scores": [Score.PATCH.value],
        "rules": options.rules.value,
        "sandbox": options.selection.sandbox,
        "environment": options.selection.images or "layers",
        "environment_digest": digest_of(
            {problem: setup.environment for problem, setup in sorted(selected.setups.items())}
        ),
        "limits": dataclasses.asdict(limits),
        "exclusion_lists": [list(entry) for entry in exclusions.lists],
        "harness_version": HARNESS_VERSION,
        "judge_version": REPOSITORY_JUDGE_VERSION,
        "benchwright_version": benchwright.__version__,
    }
    return {
        "run_id": digest_of(identity)[:16],
        **identity,
        "data_source": problems.source,
        "data_file": str(options.selection.data.resolve()) if options.selection.data else None,
        "data_pinned": problems.pinned,
        "samples_name": patches.name,
        "ignored_predictions": list(patches.ignored),
        "exclusion_ids_absent": list(exclusions.absent),
        "already_mended": list(exclusions.already_mended),
        "view_ids": {view.name: sorted(view.of(problems).by_id) for view in views},
        "mends": {
            item.after.id: {
                "fail_to_pass": list(item.after.fail_to_pass),
                "pass_to_pass": list(item.after.pass_to_pass),
            }
            for item in exclusions.mended
        },
        "instances": {
            problem.id: {
                "problem_digest": problem.digest,
                "environment": pipeline.control_key(problem)[0],
                "parser": selected.setups[problem.id].parser,
            }
            for problem in selected.available
        },
    }


def _default_folder(options: PatchGradeOptions, inputs: _Inputs) -> Path:
    stem = options.predictions.resolve().name.split(".")[0] or "patches"
    return Path("benchwright-results") / f"{stem}-{inputs.manifest['run_id'][:8]}"
