"""Grade a file of patches: the use case behind ``bw grade`` for repository problems."""

import dataclasses
import enum
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import benchwright
from benchwright.app.repositories.controls import run_controls, stored_control
from benchwright.app.repositories.exclusions import applied, reasons
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
    RepositoryControls,
    RepositoryJob,
    RepositoryProblem,
    RepositoryRecord,
    Rules,
)
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.execution.repositories import HARNESS_VERSION, TESTS
from benchwright.grading.repositories import PreparedPatch, RepositoryPipeline, row_of, run_in_threads
from benchwright.judging.repository import REPOSITORY_JUDGE_VERSION, judge_no_patch, judge_unavailable
from benchwright.store.folder import ResultsFolder
from benchwright.store.records import RecordStore

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
class PatchProgress:
    """How far a grading is."""

    done: int
    total: int
    what: str
    """``patches`` or ``controls``."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """Everything a grading reads before it runs anything."""

    problems: RepositorySet
    patches: PatchFile
    selected: Selected
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
    with folder.locked(), workspace.records() as store:
        _refuse_foreign(folder, inputs)
        folder.write_manifest({**inputs.manifest, "status": "running", "started": _now()})
        grading = _Grading(options, inputs, store, report)
        rows = grading.rows()
        uncontrolled = [p.id for p in inputs.problems.problems if p.id not in grading.controls]
        summary = summarise_patches(
            rows,
            repositories={problem.id: problem.repo for problem in inputs.problems.problems},
            views=grading.views(rows),
            excluded={item.problem.id: reasons(item) for item in inputs.exclusions.excluded},
            mended=[item.after.id for item in inputs.exclusions.mended],
            uncontrolled=uncontrolled,
        )
        folder.write_rows(rows)
        if options.official_files:
            grading.write_official(folder.path, rows, str(inputs.manifest["model"]), str(inputs.manifest["run_id"]))
        wall = time.monotonic() - started
        manifest = {
            "status": "complete",
            **inputs.manifest,
            "finished": _now(),
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


class _Grading:
    """The patches of one grading on their way to rows."""

    def __init__(
        self,
        options: PatchGradeOptions,
        inputs: _Inputs,
        store: RecordStore,
        report: Callable[[PatchProgress], None],
    ) -> None:
        self.executed = 0
        self.reused = 0
        self.controls: dict[str, RepositoryControls] = {}
        self.records: dict[tuple[str, int], RepositoryRecord] = {}
        self._lost: dict[str, RepositoryRecord] = {}
        self._options = options
        self._inputs = inputs
        self._store = store
        self._report = report
        self._pipeline = RepositoryPipeline(
            inputs.selected.setups, rules=options.rules, limits=options.selection.limits
        )
        for problem in inputs.selected.available:
            control = stored_control(problem, inputs.selected, store)
            if control is not None:
                self.controls[problem.id] = control

    def rows(self) -> list[ResultRow]:
        prepared = [self._prepare(attempt) for attempt in self._inputs.patches.attempts]
        self._run([item.job for item in prepared if item.job is not None])
        for item in prepared:
            if item.job is not None:
                self.records[item.problem.id, item.attempt.sample] = self._record(item.job)
        if self._options.controls is ControlMode.AUTO and self._options.rules is Rules.BENCHWRIGHT:
            self._control(prepared)
            prepared = self._dated(prepared)
        rows = [self._row(item) for item in prepared]
        rows += [self._missing(problem_id) for problem_id in self._inputs.patches.missing]
        order = {problem.id: index for index, problem in enumerate(self._inputs.problems.problems)}
        rows.sort(key=lambda row: (order[row.problem_id], row.sample))
        return rows

    def views(self, rows: Sequence[ResultRow]) -> dict[str, list[ResultRow]]:
        """Rows by the name of a view; what is kept is judged by the mended test lists."""
        exclusions = self._inputs.exclusions
        found: dict[str, list[ResultRow]] = {}
        if exclusions.excluded or exclusions.mended:
            kept = exclusions.kept.by_id
            found["kept"] = [self._under(kept[row.problem_id], row) for row in rows if row.problem_id in kept]
        for view in self._inputs.views:
            chosen = view.of(self._inputs.problems).by_id
            found[view.name] = [row for row in rows if row.problem_id in chosen]
        return found

    def write_official(self, folder: Path, rows: Sequence[ResultRow], model: str, run_id: str) -> None:
        """Write the official harness's files on the first sample of each instance."""
        instances = []
        for row in rows:
            if row.verdict.reason is Reason.MISSING or row.sample:
                continue
            problem = self._inputs.problems.problem(row.problem_id)
            instances.append(OfficialInstance(problem=problem, status=status_of(row.verdict), passed=self._passed(row)))
        write_official_files(
            folder,
            model=model or "unnamed",
            run_id=run_id,
            problem_ids=self._inputs.problems.by_id,
            instances=instances,
            attempts=self._inputs.patches.attempts,
        )

    def _passed(self, row: ResultRow) -> frozenset[str] | None:
        record = self.records.get((row.problem_id, row.sample))
        if record is None or record.step(TESTS) is None:
            return None
        problem = self._inputs.problems.problem(row.problem_id)
        return self._pipeline.passed(problem, record, self.controls.get(problem.id))

    def _under(self, problem: RepositoryProblem, row: ResultRow) -> ResultRow:
        """A row judged by other test lists of the same instance."""
        record = self.records.get((row.problem_id, row.sample))
        if record is None or problem == self._inputs.problems.problem(row.problem_id):
            return row
        verdict = self._pipeline.judge(problem, record, self.controls.get(problem.id))
        return dataclasses.replace(row, verdict=verdict)

    def _prepare(self, attempt: Attempt) -> PreparedPatch:
        problem = self._inputs.problems.problem(attempt.problem_id)
        why = self._inputs.selected.unavailable.get(problem.id)
        if why is not None:
            verdict = judge_unavailable(problem, why)
            return PreparedPatch(problem=problem, attempt=attempt, job=None, answer=None, verdict=verdict)
        control = self.controls.get(problem.id)
        return self._pipeline.prepare(problem, attempt, date=control.date if control else "")

    def _dated(self, prepared: Sequence[PreparedPatch]) -> list[PreparedPatch]:
        """The same attempts, those run again whose control runs have shown that their tests need another day."""
        after = [self._prepare(item.attempt) if item.job is not None else item for item in prepared]
        changed = [new for new, old in zip(after, prepared, strict=True) if new.job != old.job]
        self._run([item.job for item in changed if item.job is not None])
        for item in changed:
            if item.job is not None:
                self.records[item.problem.id, item.attempt.sample] = self._record(item.job)
        return after

    def _run(self, jobs: Sequence[RepositoryJob]) -> None:
        distinct = {job.digest: job for job in jobs}
        waiting = []
        for digest, job in distinct.items():
            if self._store.get_repository(digest) is None:
                waiting.append(job)
        reused = len(distinct) - len(waiting)
        self.reused += reused
        self._report(PatchProgress(done=reused, total=len(distinct), what="patches"))
        for done, (job, record) in enumerate(
            run_in_threads(waiting, self._pipeline.run, self._options.workers), reused + 1
        ):
            self.executed += 1
            if record.lost_reason:
                self._lost[job.digest] = record
            else:
                self._store.put_repository(record)
            self._report(PatchProgress(done=done, total=len(distinct), what="patches"))

    def _record(self, job: RepositoryJob) -> RepositoryRecord:
        record = self._lost.get(job.digest) or self._store.get_repository(job.digest)
        assert record is not None, f"job {job.digest} has no record after the run"
        return record

    def _control(self, prepared: Sequence[PreparedPatch]) -> None:
        """Make the control runs that tell whose fault it is that a patch did not resolve its issue."""
        doubtful = {}
        for item in prepared:
            if item.job is None or item.problem.id in self.controls:
                continue
            verdict = self._verdict(item)
            if verdict.outcome is not Outcome.PASSED and verdict.reason not in _SETTLED:
                doubtful[item.problem.id] = item.problem
        made = run_controls(
            list(doubtful.values()),
            self._pipeline,
            self._store,
            workers=self._options.workers,
            repeats=1,
            report=lambda done, total: self._report(PatchProgress(done=done, total=total, what="controls")),
        )
        self.controls |= {control.problem_id: control for control in made}

    def _verdict(self, item: PreparedPatch) -> Verdict:
        if item.verdict is not None:
            return item.verdict
        record = self.records[item.problem.id, item.attempt.sample]
        return self._pipeline.judge(item.problem, record, self.controls.get(item.problem.id))

    def _row(self, item: PreparedPatch) -> ResultRow:
        return row_of(item, self._verdict(item), self.records.get((item.problem.id, item.attempt.sample)))

    def _missing(self, problem_id: str) -> ResultRow:
        problem = self._inputs.problems.problem(problem_id)
        answer = NoAnswer(reason=Reason.MISSING, detail="the file has no prediction for this instance")
        attempt = Attempt(problem_id=problem_id, sample=0, solution=None)
        verdict = judge_no_patch(answer, problem)
        item = PreparedPatch(problem=problem, attempt=attempt, job=None, answer=None, verdict=verdict)
        return row_of(item, verdict, None)


def _read(options: PatchGradeOptions, workspace: Workspace) -> _Inputs:
    selection = options.selection
    problems = selection.load()
    patches = _read_patches(options, problems)
    attempted = {attempt.problem_id for attempt in patches.attempts}
    selected = select(selection, workspace, only=attempted)
    exclusions = applied(options.exclude, problems, workspace)
    views = tuple(read_subset(path) for path in options.views)
    _check_views(views, problems)
    return _Inputs(
        problems=problems,
        patches=patches,
        selected=selected,
        exclusions=exclusions,
        views=views,
        manifest=_manifest(options, problems, patches, selected, exclusions, views),
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
            {problem: setup.place.image.digest for problem, setup in sorted(selected.setups.items())}
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
                "environment": selected.setups[problem.id].place.image.digest,
                "parser": selected.setups[problem.id].parser,
            }
            for problem in selected.available
        },
    }


def _default_folder(options: PatchGradeOptions, inputs: _Inputs) -> Path:
    stem = options.predictions.resolve().name.split(".")[0] or "patches"
    return Path("benchwright-results") / f"{stem}-{inputs.manifest['run_id'][:8]}"


def _refuse_foreign(folder: ResultsFolder, inputs: _Inputs) -> None:
    if not folder.has_manifest():
        return
    found = folder.manifest()
    if found.get("run_id") == inputs.manifest["run_id"]:
        return
    names = [name for name, value in inputs.manifest.items() if name in found and found[name] != value]
    names = [name for name in names if name != "run_id"]
    raise UsageError(
        f"{folder.path} holds another grading (it differs in {', '.join(names) or 'its identity'}); "
        f"choose another folder with --out, or move that one away."
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
