"""Inspect logs of other people's tasks, as imported runs."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

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
from benchwright.app.importing_bigcodebench import function_place, known_tasks
from benchwright.benchmarks.bigcodebench.loading import BENCHMARK_NAME
from benchwright.benchmarks.foreign import name_of
from benchwright.benchmarks.repositories import named_few
from benchwright.benchmarks.swebench.instance_ids import instance_of, read_instances
from benchwright.core.errors import UsageError
from benchwright.core.results import ProblemFacts, Source
from benchwright.core.runs import FUNCTION_SCORES, ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.judging.imported import imported_verdict

if TYPE_CHECKING:
    from benchwright.bridge.foreign_logs import ForeignLog, ForeignSample

UNFINISHED = "source_unfinished"
"""Flag of a run whose log says that it did not come to its end."""

_FUNCTION_ID = re.compile(r"(?:BigCodeBench/)?(\d{1,5})")


def import_log(path: Path, options: ImportOptions) -> Imported:
    """The run of a log, with the scores that its own scorer gave; nothing is graded.

    A sample without a score (an error of the run) is a fault: listed, not counted, as Inspect does not count it.

    Raises:
        UsageError: It is no log, or one of benchwright's own tasks; benchmark, variant or score are said nowhere; it
            has samples that the benchmark lacks.
    """
    from benchwright.bridge.foreign_logs import read_foreign_log  # loads Inspect, which takes two seconds

    log = read_foreign_log(path, scorer=options.scorer)
    of_functions = all(_FUNCTION_ID.fullmatch(sample.id) for sample in log.samples)
    if of_functions and options.benchmark in (None, BENCHMARK_NAME):
        return _functions(path, log, options)
    return _repositories(path, log, options)


def _functions(path: Path, log: "ForeignLog", options: ImportOptions) -> Imported:
    if options.score not in FUNCTION_SCORES:
        raise UsageError(
            f"{path} does not say whether the stub was put in front of the answers; say --score calibrated or --score "
            "extracted (inspect_evals' bigcodebench runs the answer as it is: extracted)."
        )
    found = {_function_id(one) for one in (*(sample.id for sample in log.samples), *log.asked)}
    place = function_place(path, options, found=found)
    tasks = known_tasks(place.subset, options)
    return _imported(path, log, options, place, tasks, options.score)


def _repositories(path: Path, log: "ForeignLog", options: ImportOptions) -> Imported:
    place = repository_place(options, repository_benchmark(options, path))
    if options.score not in (None, Score.PATCH):
        raise UsageError(f"{path} holds results of patches; leave --score {options.score.value} out.")
    instances = read_instances(options.dataset) if options.dataset is not None else None
    return _imported(path, log, options, place, instances, Score.PATCH)


def _imported(
    path: Path,
    log: "ForeignLog",
    options: ImportOptions,
    place: Place,
    given: Sequence[ProblemFacts] | None,
    score: Score,
) -> Imported:
    asked = dict.fromkeys(_id(one, score) for one in (*(sample.id for sample in log.samples), *log.asked))
    known = {one.id: one for one in (map(instance_of, asked) if given is None else given)}
    what = f"the {len(known)} problems of {place.benchmark} {place.subset}"
    kept = without_unknown(asked, known, options, where=str(path), what=what)
    rows = [
        row_of(_id(sample.id, score), score, _verdict(sample), sample=sample.epoch - 1)
        for sample in log.samples
        if _id(sample.id, score) in kept
    ]
    there = {row.problem_id for row in rows}
    absent = [one for one in asked if one in kept and one not in there]
    rows += [missing_row(one, score, "the log has no sample for this problem") for one in absent]
    notes = tuple(_notes(log, rows))
    source = Source(
        kind=Kind.INSPECT_LOG.value,
        title=options.source_title or f"{log.task} (Inspect)",
        url=options.source_url or "",
        files=((path.name, log.sha256),),
        note=" ".join(notes),
    )
    run = run_of(
        place,
        source,
        rows,
        model=name_of(options.model or log.model, str(path), "the model"),
        scaffold=options.scaffold or (log.solver if score is Score.PATCH else ""),
        flags=() if log.status == "success" else (UNFINISHED,),
        finished=log.finished,
        cost=log.cost,
        manifest={"inspect": {"task": log.task, "scorer": log.scorer, "status": log.status, **log.facts}},
    )
    files = facts_file(known[one] for one in asked if one in kept)
    unknown = sorted(asked.keys() - kept)
    left_out = [f"Unknown problems of {path.name}: {len(unknown)} ({named_few(unknown)})."] * bool(unknown)
    return Imported(runs=(ImportedRun(run=run, rows=tuple(rows), files=files),), notes=notes, left_out=tuple(left_out))


def _notes(log: "ForeignLog", rows: list[ResultRow]) -> Iterator[str]:
    yield f"Scores are those of the scorer {log.scorer} of {log.task}, run under Inspect; nothing was graded again."
    if log.status != "success":
        yield f"The log says that its run did not end well ({log.status})."
    faults = [row.problem_id for row in rows if row.verdict.outcome is Outcome.FAULT]
    if faults:
        yield f"Samples without a score, not counted, as in the source: {len(faults)} ({named_few(faults)})."
    missing = [row.problem_id for row in rows if row.verdict.reason is Reason.MISSING]
    if missing:
        yield f"Problems without a sample, counted as not solved: {len(missing)} ({named_few(missing)})."


def _id(sample_id: str, score: Score) -> str:
    return sample_id if score is Score.PATCH else _function_id(sample_id)


def _function_id(sample_id: str) -> str:
    """``BigCodeBench/12`` also where the log has the number alone."""
    found = _FUNCTION_ID.fullmatch(sample_id)
    return f"BigCodeBench/{int(found[1])}" if found else sample_id


def _verdict(sample: "ForeignSample") -> Verdict:
    match sample.passed:
        case True:
            return imported_verdict(Outcome.PASSED, Reason.ALL_TESTS_PASSED, sample.detail)
        case False:
            return imported_verdict(Outcome.FAILED, Reason.NOT_STATED, sample.detail)
        case None:
            return imported_verdict(Outcome.FAULT, Reason.NOT_STATED, sample.detail)
