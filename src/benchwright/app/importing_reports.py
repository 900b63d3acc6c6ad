"""SWE-bench results of others: reports of the official harness, and submissions with their lists."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import assert_never

from benchwright.app.importing_base import (
    Imported,
    ImportedRun,
    ImportOptions,
    Kind,
    Place,
    facts_file,
    missing_row,
    repository_benchmark,
    repository_place,
    row_of,
    run_of,
    without_unknown,
)
from benchwright.app.importing_submissions import day_in_name
from benchwright.benchmarks.foreign import name_of
from benchwright.benchmarks.repositories import named_few
from benchwright.benchmarks.swebench.instance_ids import instance_of, read_instances
from benchwright.benchmarks.swebench.official import OfficialStatus
from benchwright.benchmarks.swebench.run_reports import (
    RunReport,
    TestCounts,
    instance_report_folders,
    read_instance_reports,
    read_run_report,
    read_submission,
    submission_folders,
)
from benchwright.core.errors import UsageError
from benchwright.core.results import ProblemFacts, Source
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.judging.imported import imported_verdict

ERRORS = "source_errors"
"""Flag of a run of which the source's harness made no report on some instances; they count as not resolved."""

_ERROR_NOTE = (
    "their harness made no report, because a patch did not apply, tests took too long or the harness itself failed; as "
    "in the source they count as not resolved."
)


def import_report(path: Path, options: ImportOptions) -> Imported:
    """The run of a report: the file on a run, or the folder of a model's reports on each instance, or several such.

    Raises:
        UsageError: It cannot be read, says things that do not go together, or has instances that the benchmark lacks.
    """
    if not path.is_dir():
        return _imported([read_run_report(path)], [path], path, options, Kind.SWEBENCH_REPORT)
    folders = instance_report_folders(path)
    if not folders:
        raise UsageError(f"{path} holds no reports; expected <instance>/report.json, or folders of models with those.")
    return _read_all(folders, read_instance_reports, path, options, Kind.SWEBENCH_REPORT)


def import_submissions(path: Path, options: ImportOptions) -> Imported:
    """The runs of submissions in the layout of the experiments repository: one folder, or a folder of such.

    They list what they resolved, so the benchmark's instances must be given.  Raises `UsageError` otherwise.
    """
    folders = submission_folders(path)
    if not folders:
        raise UsageError(f"{path} holds no submission; expected <submission>/results/results.json.")
    return _read_all(folders, read_submission, path, options, Kind.SWEBENCH_SUBMISSION)


def _read_all(
    folders: Iterable[Path], read: Callable[[Path], RunReport], path: Path, options: ImportOptions, kind: Kind
) -> Imported:
    folders = list(folders)
    return _imported([read(folder) for folder in folders], folders, path, options, kind)


def _imported(
    reports: Sequence[RunReport], places: Sequence[Path], path: Path, options: ImportOptions, kind: Kind
) -> Imported:
    benchmark = repository_benchmark(options, path)
    if options.model is not None and len(reports) > 1:
        raise UsageError(f"{path} holds results of {len(reports)} models; --model can name only one.")
    if options.dataset is None and not all(report.names_all for report in reports):
        raise UsageError(
            f"{path} does not say which instances were asked; give --dataset, the benchmark's rows or a list of ids."
        )
    instances = read_instances(options.dataset) if options.dataset is not None else None
    place = repository_place(options, benchmark)
    runs = [_run(report, place, instances, options, kind, where) for report, where in zip(reports, places, strict=True)]
    notes = dict.fromkeys(run.run.source.note for run in runs if run.run.source is not None)
    left_out = [text for report in reports for text in _left_out(report, instances)]
    return Imported(runs=tuple(runs), notes=tuple(notes), left_out=tuple(left_out))


def _run(
    report: RunReport,
    place: Place,
    given: Sequence[ProblemFacts] | None,
    options: ImportOptions,
    kind: Kind,
    where: Path,
) -> ImportedRun:
    instances = given or [instance_of(one) for one in sorted({*report.statuses, *report.not_submitted})]
    asked = [one.id for one in instances]
    kept = without_unknown(
        report.statuses, asked, options, where=str(where), what=f"the {len(asked)} instances of {place.benchmark}"
    )
    rows = [_row(problem_id, report, known=problem_id in kept) for problem_id in asked]
    errors = sum(report.statuses[problem_id] is OfficialStatus.ERROR for problem_id in kept)
    source = Source(
        kind=kind.value,
        title=options.source_title or report.title or where.name,
        url=options.source_url or "",
        files=report.files,
        note=" ".join(_notes(report, given is not None, errors)),
    )
    model = name_of(options.model or report.model, str(where), "the model")
    run = run_of(
        place,
        source,
        rows,
        model=model,
        scaffold=options.scaffold or "",
        flags=(ERRORS,) if errors else (),
        finished=day_in_name(model),
    )
    files = {**{file.name: file for file in report.kept}, **facts_file(instances)}
    return ImportedRun(run=run, rows=tuple(rows), files=files)


def _notes(report: RunReport, given: bool, errors: int) -> Iterator[str]:
    if errors:
        yield f"Instances that are errors in the source: {errors}; {_ERROR_NOTE}"
    if not report.names_all:
        yield "An instance that the source does not name counts as not resolved."
    elif not given:
        yield "The benchmark's instances are those that the report names."


def _left_out(report: RunReport, given: Sequence[ProblemFacts] | None) -> Iterator[str]:
    unknown = [] if given is None else sorted(report.statuses.keys() - {one.id for one in given})
    if unknown:
        yield f"Unknown instances of {report.model}: {len(unknown)} ({named_few(unknown)})."


def _row(problem_id: str, report: RunReport, *, known: bool) -> ResultRow:
    if not known:
        if report.names_all or report.tests:
            return missing_row(problem_id, Score.PATCH, "the source has no patch for this instance")
        verdict = imported_verdict(Outcome.FAILED, Reason.NOT_STATED, "not among the resolved instances of the source")
        return row_of(problem_id, Score.PATCH, verdict)
    return row_of(problem_id, Score.PATCH, _verdict(report.statuses[problem_id], report.tests.get(problem_id)))


def _verdict(status: OfficialStatus, tests: TestCounts | None) -> Verdict:
    match status:
        case OfficialStatus.RESOLVED:
            return _counted(Outcome.PASSED, Reason.ALL_TESTS_PASSED, "resolved", tests)
        case OfficialStatus.UNRESOLVED:
            return _unresolved(tests)
        case OfficialStatus.EMPTY_PATCH:
            return _counted(Outcome.NO_ANSWER, Reason.EMPTY, "empty patch", tests)
        case OfficialStatus.ERROR:
            return _counted(Outcome.FAILED, Reason.NOT_STATED, "error: the source's harness made no report", tests)
        case _:
            assert_never(status)


def _unresolved(tests: TestCounts | None) -> Verdict:
    if tests is None or tests.passed == tests.planned:
        return _counted(Outcome.FAILED, Reason.NOT_STATED, "unresolved", tests)
    failing, reason = (
        (tests.fail_to_pass_failed, Reason.TESTS_FAILED)
        if tests.fail_to_pass_failed
        else (tests.pass_to_pass_failed, Reason.REGRESSION)
    )
    return _counted(Outcome.FAILED, reason, f"unresolved: {named_few(failing)} did not pass", tests)


def _counted(outcome: Outcome, reason: Reason, detail: str, tests: TestCounts | None) -> Verdict:
    return imported_verdict(
        outcome, reason, detail, planned=tests.planned if tests else 0, passed=tests.passed if tests else 0
    )
