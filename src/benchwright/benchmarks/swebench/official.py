"""The official harness's own files: its report on a run, its report on each instance, predictions.

The form is that of swebench 4.1.0 (``harness/reporting.py`` and ``harness/grading.py``), report schema 2.
"""

import enum
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

from benchwright.benchmarks.swebench.predictions import prediction_rows
from benchwright.benchmarks.writing import write_text
from benchwright.core.attempts import Attempt
from benchwright.core.errors import UsageError
from benchwright.core.repositories import RepositoryProblem
from benchwright.core.verdicts import Outcome, Reason, Verdict

SCHEMA_VERSION = 2
RUN_EVALUATION = "run_evaluation"
"""Folder of the reports on each instance, in that of the logs."""


class OfficialStatus(enum.StrEnum):
    """Where the official report lists a submitted instance."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    EMPTY_PATCH = "empty_patch"
    ERROR = "error"
    """No report came of it.  The official harness counts patches that do not apply and time-outs here, too."""


def status_of(verdict: Verdict) -> OfficialStatus:
    """Where the official harness would list an instance with this verdict.  One without a prediction has no place.

    It writes no instance report, hence ``error``, for a patch that does not apply and for tests that take too long;
    what other limits end is a run whose log lacks tests: unresolved.  Our faults are errors.
    """
    match verdict.outcome:
        case Outcome.PASSED:
            return OfficialStatus.RESOLVED
        case Outcome.FAILED:
            return OfficialStatus.UNRESOLVED
        case Outcome.NO_ANSWER:
            return OfficialStatus.EMPTY_PATCH
        case Outcome.OVER_LIMIT:
            timed_out = verdict.reason is Reason.WALL_TIME
            return OfficialStatus.ERROR if timed_out else OfficialStatus.UNRESOLVED
        case Outcome.UNUSABLE | Outcome.FAULT:
            return OfficialStatus.ERROR
        case _:
            assert_never(verdict.outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialInstance:
    """One submitted instance, as its official report describes it."""

    problem: RepositoryProblem
    status: OfficialStatus
    passed: frozenset[str] | None
    """Required tests that passed, in the log's spelling; None when no test results were found."""
    failed: frozenset[str] | None = None
    """Those that failed; None means all the others.  Officially a skipped test is neither."""


def run_report(problem_ids: Iterable[str], statuses: Mapping[str, OfficialStatus]) -> dict[str, Any]:
    """The report on a run: all instances of the data set, and the status of each that was submitted.

    Instances without a status are ``incomplete``.  It has the three fields that swebench writes when it runs without a
    Docker client, which are zero and empty.  Raises `UsageError` for a status of an instance that is not in the data
    set.
    """
    every = set(problem_ids)
    strangers = sorted(statuses.keys() - every)
    if strangers:
        raise UsageError(f"The official report cannot list {strangers[0]}, which the data set does not have.")
    by_status = {
        status: sorted(problem_id for problem_id, its in statuses.items() if its is status) for status in OfficialStatus
    }
    resolved, unresolved = by_status[OfficialStatus.RESOLVED], by_status[OfficialStatus.UNRESOLVED]
    empty, errors = by_status[OfficialStatus.EMPTY_PATCH], by_status[OfficialStatus.ERROR]
    return {
        "total_instances": len(every),
        "submitted_instances": len(statuses),
        "completed_instances": len(resolved) + len(unresolved),
        "resolved_instances": len(resolved),
        "unresolved_instances": len(unresolved),
        "empty_patch_instances": len(empty),
        "error_instances": len(errors),
        "completed_ids": sorted([*resolved, *unresolved]),
        "incomplete_ids": sorted(every - statuses.keys()),
        "empty_patch_ids": empty,
        "submitted_ids": sorted(statuses),
        "resolved_ids": resolved,
        "unresolved_ids": unresolved,
        "error_ids": errors,
        "schema_version": SCHEMA_VERSION,
        "unstopped_instances": 0,
        "unstopped_containers": [],
        "unremoved_images": [],
    }


def instance_report(instance: OfficialInstance) -> dict[str, Any]:
    """The report on one instance, under its id.

    ``patch_successfully_applied`` means that test results were found, for that is what swebench derives it from.
    """
    report: dict[str, Any] = {
        "patch_is_None": instance.status is OfficialStatus.EMPTY_PATCH,
        "patch_exists": instance.status is not OfficialStatus.EMPTY_PATCH,
        "patch_successfully_applied": instance.passed is not None,
        "resolved": instance.status is OfficialStatus.RESOLVED,
    }
    if instance.passed is not None:
        report["tests_status"] = {
            "FAIL_TO_PASS": _split(instance.problem.fail_to_pass, instance.passed, instance.failed),
            "PASS_TO_PASS": _split(instance.problem.pass_to_pass, instance.passed, instance.failed),
            "FAIL_TO_FAIL": _split((), instance.passed, None),
            "PASS_TO_FAIL": _split((), instance.passed, None),
        }
    return {instance.problem.id: report}


def _split(tests: Sequence[str], passed: Collection[str], failed: Collection[str] | None) -> dict[str, list[str]]:
    return {
        "success": [test for test in tests if test in passed],
        "failure": [test for test in tests if (test not in passed if failed is None else test in failed)],
    }


def write_official_files(
    folder: Path,
    *,
    model: str,
    run_id: str,
    problem_ids: Iterable[str],
    instances: Sequence[OfficialInstance],
    attempts: Iterable[Attempt],
) -> tuple[Path, ...]:
    """Write what the official harness leaves behind, under its names, and return the paths.

    ``<model>.<run_id>.json`` is the report on the run,
    ``logs/run_evaluation/<run_id>/<model>/<instance>/report.json`` that on each instance that was completed, and
    ``preds.json`` the predictions, which the harness reads.  Slashes in the model's name become two underscores.
    Raises `UsageError` for a name that is no file name, `MachineError` when a file cannot be written.
    """
    stem = model.replace("/", "__")
    if {stem, run_id} & {"", ".", ".."} or "/" in run_id:
        raise UsageError(
            f"The model {model!r} and the run {run_id!r} give names to files; expected neither to be empty or dots, "
            "and no slash in the run's."
        )
    statuses = {instance.problem.id: instance.status for instance in instances}
    documents: dict[Path, object] = {
        folder / f"{stem}.{run_id}.json": run_report(problem_ids, statuses),
        folder / "preds.json": prediction_rows(attempts),
    }
    for instance in instances:
        if instance.status in {OfficialStatus.RESOLVED, OfficialStatus.UNRESOLVED}:
            place = folder / "logs" / RUN_EVALUATION / run_id / stem / instance.problem.id
            documents[place / "report.json"] = instance_report(instance)
    for path, document in documents.items():
        # ASCII escapes: patches may hold lone surrogates, which UTF-8 cannot carry.
        write_text(path, json.dumps(document, indent=4) + "\n")
    return tuple(documents)
