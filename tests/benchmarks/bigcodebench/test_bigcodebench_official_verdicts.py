"""Verdict files of the official harness: statuses, reasons read from tracebacks, and what names say."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks.base import SampleKey
from benchwright.benchmarks.bigcodebench import official_verdicts
from benchwright.benchmarks.bigcodebench.official import read_official_verdicts
from benchwright.benchmarks.bigcodebench.official_verdicts import (
    OfficialVerdicts,
    Status,
    exception_of,
    looks_like_verdicts,
    read_naming,
    read_verdicts,
    samples_beside,
)
from benchwright.core.errors import UsageError
from benchwright.core.runs import Score
from benchwright.core.verdicts import Reason

ASSERTION = (
    'Traceback (most recent call last):\n  File "__test__.py", line 9, in test_x\nAssertionError: 3 != 4\n- 3\n+ 4\n'
)
LIBRARY = (
    'Traceback (most recent call last):\n  File "__test__.py", line 9, in test_y\n    raise AssertionError(\n'
    "pandas.errors.EmptyDataError: No columns\n\nDuring handling of the above exception, another exception:\n\n"
    'Traceback (most recent call last):\n  File "x.py", line 3, in f\nKeyError: 4\n'
)


def sample(status: str = "fail", details: Any = None) -> dict[str, Any]:
    """A judged sample."""
    return {"status": status, "details": {} if details is None else details}


def read(tmp_path: Path, evaluated: Any, **others: Any) -> OfficialVerdicts:
    """The verdicts of a file with this content."""
    path = tmp_path / "x_eval_results.json"
    content = evaluated if isinstance(evaluated, bytes) else json.dumps({"eval": evaluated, **others}).encode()
    path.write_bytes(content)
    return read_verdicts(path)


def test_samples_are_numbered_in_the_file_s_order(tmp_path: Path) -> None:
    """Several samples of a task are its samples 0, 1, …; the date is the file's."""
    found = read(tmp_path, {"t/1": [sample("pass"), sample("timeout")], "t/2": [sample()]}, date="2024-12-25 02:52")
    assert {key: one.status for key, one in found.verdicts.items()} == {
        SampleKey("t/1", 0): Status.PASS,
        SampleKey("t/1", 1): Status.TIMEOUT,
        SampleKey("t/2", 0): Status.FAIL,
    }
    assert found.date == "2024-12-25T02:52:00"
    assert read(tmp_path, {"t/1": [sample()]}, date=["x"]).date == ""


@pytest.mark.parametrize(
    ("given", "reason", "detail"),
    [
        (sample("pass"), Reason.ALL_TESTS_PASSED, ""),
        (sample("timeout", {"test_x": ASSERTION}), Reason.WALL_TIME, ""),
        (sample("fail", {"test_x": ASSERTION, "test_y": LIBRARY}), Reason.ASSERTION, "test_x: AssertionError: 3 != 4"),
        (sample("fail", {"test_y": LIBRARY}), Reason.EXCEPTION, "test_y: KeyError: 4"),
        (sample("fail", {"test_z": "SystemExit: 1"}), Reason.TESTS_NOT_RUN, "test_z: SystemExit: 1"),
        (sample("fail", {"ALL": "No module named 'r'"}), Reason.EXCEPTION, "No module named 'r'"),
        (sample("fail", {"test_x": "3 tests wrong"}), Reason.NOT_STATED, "test_x: 3 tests wrong"),
        (sample("fail", {"test_x": ""}), Reason.NOT_STATED, "test_x"),
        (sample("fail", {}), Reason.NOT_STATED, ""),
        (sample("fail", [True, False]), Reason.NOT_STATED, ""),
        ({"status": "fail"}, Reason.NOT_STATED, ""),
    ],
)
def test_the_reason_is_what_the_traceback_says(tmp_path: Path, given: Any, reason: Reason, detail: str) -> None:
    """Assertion or exception of the first test that is named; where nothing says it, it is not stated."""
    (verdict,) = read(tmp_path, {"t/1": [given]}).verdicts.values()
    assert (verdict.reason, verdict.detail) == (reason, detail)


def test_lines_of_a_message_are_no_exceptions() -> None:
    """The exception is the first line at the margin after the last frame, with or without its module."""
    assert exception_of(ASSERTION) == ("AssertionError", "AssertionError: 3 != 4")
    assert exception_of('  File "a"\n    x\nsubprocess.CalledProcessError: Command').name == "CalledProcessError"
    assert exception_of("") == ("", "")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"[]", "no official result file"),
        ({}, "holds no verdict"),
        ({"t": {}}, "t has an object; expected a list"),
        ({"t": []}, "a list of 0"),
        ({"t": [sample()] * 1001}, "a list of 1,001"),
        ({"t": ["pass"]}, "has the status None"),
        ({"t": [sample("passed")]}, "has the status 'passed'; expected pass, fail or timeout"),
        ({"t": [sample("fail", "text")]}, "has details of a string"),
        ({"t": [sample("fail", {"test_x": 3})]}, "what 'test_x' failed of is a number"),
        ({"a\0": [sample()]}, "no control characters"),
        (b'{"eval": ' + b'{"t":' * 100_000, "not usable JSON"),
    ],
)
def test_other_files_are_refused_in_one_sentence(tmp_path: Path, content: Any, message: str) -> None:
    """The user reads which task and what was expected."""
    with pytest.raises(UsageError) as caught:
        read(tmp_path, content)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_file_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than the limit is ever unpacked."""
    path = tmp_path / "x_eval_results.json.gz"
    path.write_bytes(gzip.compress(b" " * 10_000_000))
    monkeypatch.setattr(official_verdicts, "_MAX_BYTES", 1_000_000)
    with pytest.raises(UsageError, match="longer than 1,000,000 bytes"):
        read_verdicts(path)


@pytest.mark.parametrize(
    ("name", "model", "subset", "variant", "score"),
    [
        (
            "o--m--main--bigcodebench-hard-instruct--vllm-0-1-sanitized_calibrated_eval_results.json",
            "o--m--main", "hard", "instruct", Score.CALIBRATED,
        ),
        (
            "gpt--bigcodebench-complete--openai-0.8-5-sanitized-calibrated_eval_results.json.gz",
            "gpt", "full", "complete", Score.CALIBRATED,
        ),
        ("m--bigcodebench-complete--hf-0-1-sanitized_eval_results.json", "m", "full", "complete", Score.EXTRACTED),
        ("m--bigcodebench-complete--hf-0-1_eval_results.json", "m", "full", "complete", None),
        ("hard-complete.official_verdicts.json.gz", None, "hard", "complete", None),
        ("eval_results.json", None, None, None, None),
    ],
)  # fmt: skip
def test_what_names_say(
    tmp_path: Path, name: str, model: str | None, subset: str | None, variant: str | None, score: Score | None
) -> None:
    """Official names hold model, subset, split and whether the stub was added; nothing else is guessed."""
    found = read_naming(tmp_path / name)
    assert (found.model, found.subset, found.variant, found.score) == (model, subset, variant, score)


def test_the_file_of_rates_beside_it_knows_better(tmp_path: Path) -> None:
    """Since 0.2 the name says calibrated whatever was done, and the file of rates says what was done."""
    path = tmp_path / "m--main--bigcodebench-complete--hf-0-1-sanitized_calibrated_eval_results.json"
    rates = tmp_path / "m--main--bigcodebench-complete--hf-0-1-sanitized_calibrated_pass_at_k.json"
    said = {"model": "o/m", "split": "instruct", "subset": "hard", "calibrated": False}
    rates.write_text(json.dumps(said), encoding="utf-8")
    found = read_naming(path)
    assert (found.model, found.subset, found.variant, found.score) == ("o/m", "hard", "instruct", Score.EXTRACTED)
    assert [file for file, _ in found.files] == [rates]
    rates.write_text('{"calibrated": "yes"}', encoding="utf-8")
    with pytest.raises(UsageError, match="'calibrated' is a string"):
        read_naming(path)


def test_the_samples_lie_beside_under_the_official_name(tmp_path: Path) -> None:
    """``x_eval_results.json`` is about ``x.jsonl``, gzip or not; other names have none."""
    path = tmp_path / "x_eval_results.json"
    assert samples_beside(path) is None
    (tmp_path / "x.jsonl.gz").write_bytes(b"")
    assert samples_beside(path) == tmp_path / "x.jsonl.gz"
    assert samples_beside(tmp_path / "eval.json") is None


def test_the_form_is_known_by_its_field() -> None:
    """Other documents are no verdict files."""
    assert looks_like_verdicts({"eval": {}})
    assert not any(map(looks_like_verdicts, ({"eval": []}, [], None, {"x": {}})))


def test_real_verdicts(real_data: Path) -> None:
    """Every status is what the older reader says, and almost every failure has a reason in its traceback."""
    files = sorted((real_data / "samples").glob("*/*.official_verdicts.json.gz"))
    assert len(files) == 7
    reasons: Counter[Reason] = Counter()
    for file in files:
        found = read_verdicts(file).verdicts
        assert {key: one.status.value for key, one in found.items()} == read_official_verdicts(file)
        reasons.update(one.reason for one in found.values())
    assert reasons[Reason.NOT_STATED] == 0
    assert reasons[Reason.ASSERTION] > reasons[Reason.EXCEPTION] > reasons[Reason.WALL_TIME] > 0
