"""Grade a file of samples: the use case behind ``bw grade`` and ``bw demo``."""

import dataclasses
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchwright.app.grading_inputs import BOTH_SCORES, DEFAULT_FLOOR_SECONDS, FUNCTIONS, GradeOptions, Inputs
from benchwright.app.job_facts import jobs_to_lines
from benchwright.app.problem_facts import facts_of_function
from benchwright.app.samples import graded_rows
from benchwright.app.summary import Summary, summarise
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.base import OfficialResults, SampleKey
from benchwright.benchmarks.stubs import given_names
from benchwright.core.controls import ControlRun, place_of
from benchwright.core.errors import UsageError
from benchwright.core.execution import ExecutionRecord
from benchwright.core.runs import ResultRow, Score
from benchwright.execution.guest import guest_version
from benchwright.execution.schedulers.local import LocalOptions, LocalScheduler
from benchwright.grading.pipeline import Pipeline, Prepared
from benchwright.grading.run import Progress, RunSummary, run_jobs
from benchwright.store.folder import JOBS, SAMPLES, ResultsFolder, now
from benchwright.store.records import RecordStore

__all__ = [
    "BOTH_SCORES",
    "DEFAULT_FLOOR_SECONDS",
    "FUNCTIONS",
    "GradeOptions",
    "GradeReport",
    "Inputs",
    "grade",
    "grade_into",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeReport:
    """What a grading came to."""

    run_id: str
    folder: Path
    manifest: dict[str, Any]
    summary: Summary
    rows: tuple[ResultRow, ...] = field(repr=False)
    run: RunSummary
    wall_seconds: float

    @property
    def rows_path(self) -> Path:
        """Where the rows are."""
        return ResultsFolder(self.folder).rows_path


def grade(options: GradeOptions, workspace: Workspace, report: Callable[[Progress], None]) -> GradeReport:
    """Grade every sample of a file, or go on where an earlier grading of the same stopped.

    Raises:
        UsageError: Input that cannot be used; nothing was run or lost.
        MachineError: The machine stands in the way; finished executions are kept.
    """
    inputs = Inputs.read(options, workspace)
    folder = ResultsFolder(options.out or _default_folder(options, inputs))
    with folder.locked(), workspace.records() as store:
        folder.refuse_other(inputs.manifest)
        inputs = _spare_samples(folder, inputs, options)
        return grade_into(folder, store, inputs, options, report)


def _spare_samples(folder: ResultsFolder, inputs: "Inputs", options: GradeOptions) -> "Inputs":
    """See to it that no file of the user's is written over by what the folder keeps of the samples."""
    path = folder.path / SAMPLES
    if not path.exists():
        return inputs
    if options.samples.is_file() and options.samples.samefile(path):
        return dataclasses.replace(inputs, given=None)
    if not folder.has_manifest():
        raise UsageError(
            f"The output folder {folder.path} holds a {SAMPLES} that no grading wrote, and this one would write its "
            f"own there; choose another folder with --out."
        )
    return inputs


def grade_into(
    folder: ResultsFolder,
    store: RecordStore,
    inputs: "Inputs",
    options: GradeOptions,
    report: Callable[[Progress], None],
    *,
    started: float | None = None,
    executed_before: int = 0,
) -> GradeReport:
    """Grade what was read into a folder that the caller holds locked.

    Args:
        folder: Where rows and files go.
        store: Where records are, and new ones go.
        inputs: What is graded.
        options: How.
        report: Told after every job.
        started: When the whole began, on the monotonic clock; None means now.
        executed_before: Jobs that the caller has executed for this grading; they are in the store, but are not
            taken over from an earlier grading.
    """
    started = time.monotonic() if started is None else started
    folder.write_manifest({"kind": FUNCTIONS, **inputs.manifest, "status": "running", "started": now()})
    place = place_of(inputs.target.digest, options.isolation)
    controls = store.controls(place, guest_version())
    pipeline = Pipeline(
        inputs.benchmark,
        inputs.target,
        options.isolation,
        controls,
        official_limits=options.official_limits,
        floor_seconds=options.floor_seconds,
    )
    problems = inputs.problems.by_id
    prepared = [
        pipeline.prepare(problems[attempt.problem_id], attempt, score)
        for attempt in inputs.samples.attempts
        for score in options.scores
    ]
    scheduler = LocalScheduler(inputs.target, LocalOptions(workers=options.workers, isolation=options.isolation))
    jobs = (item.scheduled for item in prepared if item.scheduled is not None)
    run = run_jobs(jobs, scheduler, store, report)
    # What was executed for an answer that was asked for again afterwards is in the store and not among these jobs.
    run = dataclasses.replace(run, executed=run.executed + executed_before, reused=max(0, run.reused - executed_before))
    rows = _rows(inputs, pipeline, prepared, run, store, options.scores)
    here = {problem.id: controls[problem.digest] for problem in problems.values() if problem.digest in controls}
    given = {problem.id: given_names(problem) for problem in problems.values()}
    summary = summarise(rows, options.scores, here, given_names=given)
    folder.write_plans({problem.id: pipeline.plan(problem) for problem in problems.values()}, given)
    folder.write_lines(JOBS, jobs_to_lines(problems.values(), pipeline))
    folder.write_problem_facts(facts_of_function(problem) for problem in problems.values())
    if inputs.given is not None:
        folder.write_lines(SAMPLES, graded_rows(inputs.given, inputs.manifest))
    folder.write_rows(rows)
    # Neither a part of a run nor faults alone make a result that other tools may take for a whole one.
    if options.official_files and inputs.manifest.get("status") != "stopped" and summary.estimates:
        _write_official(folder, inputs, options, prepared, rows, summary, here, store)
    wall = time.monotonic() - started
    manifest = {
        "status": "complete",
        "kind": FUNCTIONS,
        **inputs.manifest,
        "finished": now(),
        **_outcome(summary, run, wall),
    }
    digests = {problem.id: problem.digest for problem in problems.values()}
    folder.write_manifest({**manifest, "problem_digests": digests})
    return GradeReport(
        run_id=inputs.run_id,
        folder=folder.path,
        manifest=manifest,
        summary=summary,
        rows=tuple(rows),
        run=run,
        wall_seconds=wall,
    )


def _default_folder(options: GradeOptions, inputs: Inputs) -> Path:
    stem = options.samples.name.split(".")[0] or "samples"
    return Path("benchwright-results") / f"{stem}-{inputs.run_id[:8]}"


def _rows(
    inputs: Inputs,
    pipeline: Pipeline,
    prepared: Iterable[Prepared],
    run: RunSummary,
    store: RecordStore,
    scores: Iterable[Score],
) -> list[ResultRow]:
    rows = []
    for item in prepared:
        problem = inputs.problems.problem(item.attempt.problem_id)
        rows.append(pipeline.finish(problem, item, _record(item, run, store)))
    for problem_id in inputs.samples.missing:
        rows += [pipeline.missing(inputs.problems.problem(problem_id), score) for score in scores]
    order = {problem.id: index for index, problem in enumerate(inputs.problems.problems)}
    rows.sort(key=lambda row: (order[row.problem_id], row.sample, row.score.value))
    return rows


def _record(item: Prepared, run: RunSummary, store: RecordStore) -> ExecutionRecord | None:
    if item.scheduled is None:
        return None
    digest = item.scheduled.job.digest
    record = run.lost.get(digest) or store.get(digest)
    assert record is not None, f"job {digest} has no record after the run"
    return record


def _write_official(
    folder: ResultsFolder,
    inputs: Inputs,
    options: GradeOptions,
    prepared: Iterable[Prepared],
    rows: Iterable[ResultRow],
    summary: Summary,
    controls: dict[str, ControlRun],
    store: RecordStore,
) -> None:
    failed = tuple(problem for problem, control in controls.items() if not control.reference_passes)
    answers = {
        SampleKey(item.attempt.problem_id, item.attempt.sample): item.scheduled.job.submission.code
        for item in prepared
        if item.scheduled is not None
    }
    for score in options.scores:
        own = tuple(row for row in rows if row.score is score)
        messages = {}
        for row in own:
            record = store.get(row.job_digest) if row.job_digest and row.verdict.outcome != "passed" else None
            if record is not None:
                messages[SampleKey(row.problem_id, row.sample)] = {
                    test.id: test.message for test in record.tests if test.outcome != "passed"
                }
        results = OfficialResults(
            rows=own,
            answers=answers,
            messages=messages,
            score=score,
            pass_at_k={e.k: e.value for e in summary.estimates if e.metric.endswith(f"[{score.value}]")},
            model=str(inputs.manifest["model"]),
            variant=str(inputs.manifest["variant"]),
            reference_pass_rate=1 - len(failed) / len(controls) if controls else None,
            failed_references=failed,
            date=datetime.now(UTC),
        )
        inputs.benchmark.write_official_files(folder.path, score.value, results, inputs.problems)


def _outcome(summary: Summary, run: RunSummary, wall: float) -> dict[str, Any]:
    return {
        **summary.to_plain(),
        "executed": run.executed,
        "reused": run.reused,
        "duplicates": run.duplicates,
        "wall_seconds": round(wall, 3),
    }
