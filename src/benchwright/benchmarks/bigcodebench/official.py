"""The official result files: written for the official analysis scripts, and read for comparison."""

import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, assert_never

from benchwright.benchmarks.base import OfficialFiles, OfficialResults, ProblemSet, SampleKey
from benchwright.benchmarks.reading import open_file
from benchwright.benchmarks.writing import write_pieces
from benchwright.core.errors import UsageError
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict

VERDICTS_ENDING, RATES_ENDING = "_eval_results.json", "_pass_at_k.json"
"""How the names of the official files end."""
_STATUSES = frozenset({"pass", "fail", "timeout"})


def official_status(verdict: Verdict) -> str | None:
    """``pass``, ``fail`` or ``timeout``; None for a fault, for which the official format has no word."""
    match verdict.outcome:
        case Outcome.PASSED:
            return "pass"
        case Outcome.FAILED | Outcome.NO_ANSWER | Outcome.UNUSABLE:
            return "fail"
        case Outcome.OVER_LIMIT:
            return "timeout" if verdict.reason in (Reason.WALL_TIME, Reason.CPU_TIME) else "fail"
        case Outcome.FAULT:
            return None
        case _:
            assert_never(verdict.outcome)


def write_official_files(folder: Path, stem: str, results: OfficialResults, problems: ProblemSet) -> OfficialFiles:
    """Write ``<stem>_eval_results.json`` and ``<stem>_pass_at_k.json``, each whole or not at all.

    Solutions are stored as the official tool stores them: with the stub in front when calibrated.  Faults are
    left out and returned; the caller says so.  Raises `MachineError` when the folder cannot be written.
    """
    evaluated, left_out = _evaluated(results, problems)
    eval_path = folder / f"{stem}{VERDICTS_ENDING}"
    rate_path = folder / f"{stem}{RATES_ENDING}"
    _write_json(eval_path, {"date": results.date.strftime("%Y-%m-%d %H:%M"), "eval": evaluated})
    rates: dict[str, Any] = {f"pass@{k}": value for k, value in sorted(results.pass_at_k.items())}
    rates |= {
        "model": results.model,
        "split": results.variant,
        "subset": problems.subset,
        "calibrated": results.score is Score.CALIBRATED,
        "gt_pass_rate": results.reference_pass_rate,
        "failed_tasks": list(results.failed_references),
    }
    _write_json(rate_path, rates)
    return OfficialFiles((eval_path, rate_path), left_out)


def read_official_verdicts(path: Path) -> dict[SampleKey, str]:
    """Status by sample of an official ``*_eval_results.json``, plain or gzip; else raises `UsageError`."""
    try:
        with open_file(path) as file:
            data = file.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        document = json.loads(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UsageError(f"{path} is a damaged gzip file: {error}.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}.") from error
    evaluated = document.get("eval") if isinstance(document, dict) else None
    if not isinstance(evaluated, dict):
        raise UsageError(f"{path} is no official result file; expected an object with the field 'eval'.")
    verdicts: dict[SampleKey, str] = {}
    for task_id, samples in evaluated.items():
        for number, sample in enumerate(samples if isinstance(samples, list) else [None]):
            status = sample.get("status") if isinstance(sample, dict) else None
            if status not in _STATUSES:
                raise UsageError(
                    f"{path}: sample {number} of {task_id} has the status {status!r}; expected pass, fail or timeout."
                )
            verdicts[SampleKey(task_id, number)] = status
    return verdicts


def _evaluated(
    results: OfficialResults, problems: ProblemSet
) -> tuple[dict[str, list[dict[str, Any]]], tuple[SampleKey, ...]]:
    evaluated: dict[str, list[dict[str, Any]]] = {}
    left_out: list[SampleKey] = []
    for row in sorted(results.rows, key=lambda row: row.sample):
        key = SampleKey(row.problem_id, row.sample)
        status = official_status(row.verdict)
        if status is None:
            left_out.append(key)
            continue
        answer = results.answers.get(key, "")
        if results.score is Score.CALIBRATED:
            answer = problems.problem(row.problem_id).calibration_stub + answer
        evaluated.setdefault(row.problem_id, []).append(
            {
                "task_id": row.problem_id,
                "solution": answer,
                "status": status,
                "details": _details(row, status, results.messages.get(key, {})),
            }
        )
    in_order = {problem.id: evaluated[problem.id] for problem in problems.problems if problem.id in evaluated}
    return in_order, tuple(left_out)


def _details(row: ResultRow, status: str, messages: Mapping[str, str]) -> dict[str, str]:
    """Messages by bare test name; ``ALL`` when there is none for a single test, as the official tool does."""
    if status == "pass":
        return {}
    if messages:
        return {test_id.rpartition(".")[2]: message for test_id, message in messages.items()}
    return {"ALL": row.verdict.detail}


def _write_json(path: Path, document: object) -> None:
    # ASCII escapes: answers may hold lone surrogates, which UTF-8 cannot carry.
    write_pieces(path, json.JSONEncoder(indent=2).iterencode(document))
