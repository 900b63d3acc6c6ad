"""Facts about the official result files."""

import dataclasses
import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks.base import OfficialResults, ProblemSet, SampleKey
from benchwright.benchmarks.bigcodebench.official import (
    official_status,
    read_official_verdicts,
    write_official_files,
)
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict

ONE, TWO = "BigCodeBench/1", "BigCodeBench/2"


def verdict(outcome: Outcome, reason: Reason, detail: str = "why") -> Verdict:
    return Verdict(
        outcome=outcome,
        reason=reason,
        detail=detail,
        planned=1,
        passed=0,
        judge_version=1,
        record_digest=None,
    )


PASSED = verdict(Outcome.PASSED, Reason.ALL_TESTS_PASSED)
FAILED = verdict(Outcome.FAILED, Reason.ASSERTION)
EMPTY = verdict(Outcome.NO_ANSWER, Reason.EMPTY, "the answer is empty")
SLOW = verdict(Outcome.OVER_LIMIT, Reason.WALL_TIME)
FAULT = verdict(Outcome.FAULT, Reason.SANDBOX_LOST)


def result(problem_id: str, sample: int, given_verdict: Verdict) -> ResultRow:
    return ResultRow(
        problem_id=problem_id, sample=sample, score=Score.CALIBRATED, verdict=given_verdict, job_digest=None
    )


def results(*rows: ResultRow, **changes: Any) -> OfficialResults:
    values: dict[str, Any] = {
        "rows": rows,
        "answers": {SampleKey(ONE, 0): "answer = 'é\ud800'\n"},
        "messages": {SampleKey(ONE, 1): {"TestCases.test_x": "Traceback: 3 != 4"}},
        "score": Score.CALIBRATED,
        "pass_at_k": {10: 1.0, 1: 0.5},
        "model": "m",
        "variant": "complete",
        "reference_pass_rate": 0.995,
        "failed_references": (TWO,),
        "date": datetime(2025, 1, 2, 3, 4),  # noqa: DTZ001 - the official file has local time without a zone
    }
    return OfficialResults(**(values | changes))


@pytest.mark.parametrize(
    ("given_verdict", "status"),
    [
        (PASSED, "pass"),
        (FAILED, "fail"),
        (EMPTY, "fail"),
        (verdict(Outcome.UNUSABLE, Reason.SYNTAX_ERROR), "fail"),
        (SLOW, "timeout"),
        (verdict(Outcome.OVER_LIMIT, Reason.CPU_TIME), "timeout"),
        (verdict(Outcome.OVER_LIMIT, Reason.MEMORY), "fail"),
        (FAULT, None),
    ],
)
def test_every_outcome_has_an_official_word_but_faults(given_verdict: Verdict, status: str | None) -> None:
    """Outcomes map to pass, fail or timeout; a fault says nothing about the answer and maps to none."""
    assert official_status(given_verdict) == status


def test_the_files_are_as_the_official_tool_writes_them(three_problems: ProblemSet, tmp_path: Path) -> None:
    """Names, fields, order and stored solutions are those of bigcodebench 0.2.5."""
    rows = (result(TWO, 0, EMPTY), result(ONE, 1, FAILED), result(ONE, 0, PASSED), result(TWO, 1, FAULT))
    files = write_official_files(tmp_path / "new", "stem", results(*rows), three_problems)
    assert [path.name for path in files.paths] == ["stem_eval_results.json", "stem_pass_at_k.json"]
    assert files.left_out == (SampleKey(TWO, 1),)
    stub = three_problems.problem(ONE).stub + "\n    pass\n"
    assert json.loads(files.paths[0].read_text("ascii")) == {
        "date": "2025-01-02 03:04",
        "eval": {
            ONE: [
                {"task_id": ONE, "solution": stub + "answer = 'é\ud800'\n", "status": "pass", "details": {}},
                {
                    "task_id": ONE,
                    "solution": stub,
                    "status": "fail",
                    "details": {"test_x": "Traceback: 3 != 4"},
                },
            ],
            TWO: [
                {
                    "task_id": TWO,
                    "solution": stub,
                    "status": "fail",
                    "details": {"ALL": "the answer is empty"},
                }
            ],
        },
    }
    rates = json.loads(files.paths[1].read_text("ascii"))
    assert list(rates.items()) == [
        ("pass@1", 0.5),
        ("pass@10", 1.0),
        ("model", "m"),
        ("split", "complete"),
        ("subset", "full"),
        ("calibrated", True),
        ("gt_pass_rate", 0.995),
        ("failed_tasks", [TWO]),
    ]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == sorted(path.name for path in files.paths)


def test_uncalibrated_solutions_are_stored_without_the_stub(three_problems: ProblemSet, tmp_path: Path) -> None:
    """The extracted score's file holds the answer alone and says that it is not calibrated."""
    files = write_official_files(tmp_path, "s", results(result(ONE, 0, PASSED), score=Score.EXTRACTED), three_problems)
    assert json.loads(files.paths[0].read_text())["eval"][ONE][0]["solution"] == "answer = 'é\ud800'\n"
    assert json.loads(files.paths[1].read_text())["calibrated"] is False


def test_what_is_written_can_be_read_back(three_problems: ProblemSet, tmp_path: Path) -> None:
    """The verdicts of a written file are those of its rows."""
    rows = (result(ONE, 0, PASSED), result(ONE, 1, SLOW), result(TWO, 0, FAILED))
    path = write_official_files(tmp_path, "s", results(*rows), three_problems).paths[0]
    expected = {(ONE, 0): "pass", (ONE, 1): "timeout", (TWO, 0): "fail"}
    assert read_official_verdicts(path) == expected
    packed = tmp_path / "packed.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_official_verdicts(packed) == expected


def test_an_unwritable_folder_is_named(three_problems: ProblemSet, tmp_path: Path) -> None:
    """A path below a file cannot become a folder; the message says which file was to be written."""
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="cannot be written"):
        write_official_files(tmp_path / "file" / "x", "s", results(), three_problems)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[]", "no official result file"),
        (b"{}", "no official result file"),
        (b'{"eval": {"T/1": [{"status": "ok"}]}}', "sample 0 of T/1 has the status 'ok'"),
        (b'{"eval": {"T/1": 3}}', "sample 0 of T/1 has the status None"),
        (gzip.compress(b'{"eval": {}}', mtime=0)[:-3], "damaged gzip"),
    ],
)
def test_other_files_are_not_taken_for_official_results(tmp_path: Path, content: bytes, message: str) -> None:
    """A file that is something else is refused with a plain sentence."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        read_official_verdicts(path)


def test_an_absent_result_file_is_a_usage_error(tmp_path: Path) -> None:
    """A path that does not exist is named."""
    with pytest.raises(UsageError, match="There is no file"):
        read_official_verdicts(tmp_path / "nowhere.json")


def test_every_outcome_is_handled() -> None:
    """No outcome of the closed list makes the mapping fail."""
    for outcome in Outcome:
        official_status(dataclasses.replace(FAILED, outcome=outcome))
