"""From messages to records."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreter_runs import make_job

from benchwright.core.errors import SandboxFault
from benchwright.core.execution import ExitCause, TestOutcome
from benchwright.execution.records import RawExecution, build, clip, lost

JOB = make_job("def task_func():\n    return True\n")
TEST = {
    "kind": "test", "id": "TestCases.test_truth", "outcome": "passed", "seconds": 0.1, "exception": "",
    "message": "", "missing_module": None,
}  # fmt: skip
STARTED = {"kind": "started"}
CLOSING = {"kind": "closing", "missing": []}
EXIT = {"cause": "exit", "status": 0, "wall": 1.23456, "cpu": 0.5, "peak": 100}


def raw(*messages: dict[str, Any], oom: bool = False, errors: tuple[str, ...] = (), **event: Any) -> RawExecution:
    """What the host saw; keywords change the exit event."""
    return RawExecution(
        messages=messages,
        channel_errors=errors,
        exit_event={**EXIT, **event},
        output=b"out\xff",
        output_total_bytes=4,
        out_of_memory=oom,
        memory_peak_bytes=200,
        facts=(("python", "3.11"),),
    )


def test_an_orderly_run_becomes_a_finished_record() -> None:
    """All that was seen is in the record, and its digest is the job's."""
    record = build(JOB, raw(STARTED, TEST, CLOSING))
    assert record.job_digest == JOB.digest
    assert record.exit_cause is ExitCause.FINISHED
    assert [(test.id, test.outcome) for test in record.tests] == [("TestCases.test_truth", TestOutcome.PASSED)]
    assert (record.wall_seconds, record.cpu_seconds, record.memory_peak_bytes) == (1.2346, 0.5, 200)
    assert (record.output, record.output_total_bytes) == ("out\ufffd", 4)
    assert record.protocol_errors == record.interference == record.missing_modules == ()
    assert record.facts == (("python", "3.11"),)


@pytest.mark.parametrize(
    ("messages", "event", "cause"),
    [
        ((STARTED, TEST, CLOSING), {}, ExitCause.FINISHED),
        ((STARTED, TEST, CLOSING), {"status": 1}, ExitCause.EXITED),
        ((STARTED, TEST), {}, ExitCause.EXITED),
        ((STARTED,), {"status": 3}, ExitCause.EXITED),
        ((STARTED,), {"status": -11}, ExitCause.SIGNAL),
        ((STARTED,), {"status": -24}, ExitCause.CPU_TIME),
        ((STARTED,), {"status": -9, "cpu": 20.0}, ExitCause.CPU_TIME),
        ((STARTED,), {"cause": "wall_time", "status": -9}, ExitCause.WALL_TIME),
        ((STARTED,), {"cause": "memory", "status": -9}, ExitCause.MEMORY),
        ((STARTED,), {"cause": "output", "status": -9}, ExitCause.OUTPUT),
        ((STARTED, TEST, CLOSING), {"cause": "wall_time", "status": -9}, ExitCause.WALL_TIME),
    ],
)
def test_exit_cause(messages: tuple[dict[str, Any], ...], event: dict[str, Any], cause: ExitCause) -> None:
    """The exit cause follows from the closing frame, the status, and what the slot or the host stopped."""
    assert build(JOB, raw(*messages, **event)).exit_cause is cause


def test_killed_for_memory_is_not_a_crash() -> None:
    """A process the memory controller killed went over its limit."""
    assert build(JOB, raw(STARTED, oom=True, status=-9)).exit_cause is ExitCause.MEMORY


def test_an_orderly_end_survives_a_killed_helper() -> None:
    """When a process of the job was killed for memory and the answer coped, the tests decide."""
    assert build(JOB, raw(STARTED, TEST, CLOSING, oom=True)).exit_cause is ExitCause.FINISHED


def test_a_child_that_could_not_be_set_up_is_a_fault_of_ours() -> None:
    """A failed set-up is no evidence about the answer."""
    with pytest.raises(SandboxFault, match="no space"):
        build(JOB, raw({"kind": "setup_failed", "message": "no space"}, status=97))


def test_notes_are_kept_apart_by_level() -> None:
    """Interference counts against the answer, an observation is a fact."""
    notes = [
        {"kind": "note", "level": "interference", "what": "patched"},
        {"kind": "note", "level": "observation", "what": "looked"},
    ]
    record = build(JOB, raw(STARTED, *notes, TEST, CLOSING))
    assert record.interference == ("patched",)
    assert ("observed", "looked") in record.facts


def test_modules_that_were_missing_are_gathered() -> None:
    """Missing modules come from the closing frame, from tests and from a load error."""
    test = {**TEST, "outcome": "error", "missing_module": "torch"}
    record = build(JOB, raw(STARTED, test, {**CLOSING, "missing": ["keras", "torch"]}))
    assert record.missing_modules == ("keras", "torch")
    load_error = {
        "kind": "load_error", "phase": "answer", "exception": "ModuleNotFoundError", "message": "m", "line": 1,
        "missing_module": "wand",
    }  # fmt: skip
    record = build(JOB, raw(load_error, CLOSING))
    assert record.missing_modules == ("wand",)
    assert record.load_error is not None
    assert (record.load_error.phase, record.load_error.line) == ("answer", 1)


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ((STARTED, TEST, CLOSING, CLOSING), "more than one closing frame"),
        ((STARTED, CLOSING, TEST), "frames after the closing frame"),
        ((STARTED, TEST, TEST, CLOSING), "a test was reported twice"),
    ],
)
def test_frames_in_an_order_no_driver_sends(messages: tuple[dict[str, Any], ...], error: str) -> None:
    """Signed frames in an impossible order are protocol errors."""
    assert error in build(JOB, raw(*messages)).protocol_errors


def test_channel_errors_are_protocol_errors() -> None:
    """What the reader refused is in the record."""
    assert build(JOB, raw(STARTED, errors=("forged",))).protocol_errors == ("forged",)


def test_a_failed_fixture_is_a_fact() -> None:
    """What a fixture raised is recorded by its name."""
    record = build(JOB, raw(STARTED, {"kind": "fixture", "name": "tearDownClass", "message": "E: x"}, TEST, CLOSING))
    assert ("fixture", "tearDownClass: E: x") in record.facts


def test_a_lost_job_keeps_the_reason() -> None:
    """A lost record says why and how often."""
    record = lost(JOB, "the slot broke", 3)
    assert (record.exit_cause, record.lost_reason, record.attempts) == (ExitCause.LOST, "the slot broke", 3)
    assert record.job_digest == JOB.digest


@given(st.text(max_size=300), st.integers(2, 100))
def test_clipping_keeps_head_and_tail(text: str, limit: int) -> None:
    """A short text stays as it is; a long one keeps both ends and says how much was left out."""
    clipped = clip(text, limit)
    if len(text) <= limit:
        assert clipped == text
    else:
        half = limit // 2
        assert clipped.startswith(text[:half]) and clipped.endswith(text[-half:])
        assert f"{len(text) - limit} characters left out" in clipped


def test_a_kill_from_outside_is_a_fault_of_ours() -> None:
    """Process 1 of a namespace cannot kill itself, so such an end says nothing of the answer."""
    with pytest.raises(SandboxFault, match="killed from outside"):
        build(JOB, raw(STARTED, status=-9, cpu=19.0))
