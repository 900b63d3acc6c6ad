"""Every rule of the judge, on records made by hand."""

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.answers import NoAnswer
from benchwright.core.execution import (
    ExecutionRecord,
    ExitCause,
    LoadError,
    PlannedTest,
    TestOutcome,
    TestPlan,
    TestResult,
)
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.judging.function import JUDGE_VERSION, judge, judge_no_answer, missing_names

GOLDEN = Path(__file__).with_name("golden_verdicts.json")
PLAN = TestPlan(
    source="",
    class_name="TestCases",
    tests=(
        PlannedTest(id="TestCases.test_a"),
        PlannedTest(id="TestCases.test_b"),
        PlannedTest(id="TestCases.test_c", decorators=("unittest.skipIf(True, 'no')",)),
    ),
)
IDS = tuple(test.id for test in PLAN.tests)


def result(
    test_id: str, outcome: TestOutcome = TestOutcome.PASSED, exception: str = "", message: str = ""
) -> TestResult:
    """What one test did."""
    return TestResult(id=test_id, outcome=outcome, seconds=0.01, exception=exception, message=message)


PASSED = tuple(result(test_id) for test_id in IDS)


def record(**changes: Any) -> ExecutionRecord:
    """A record of a run in which everything passed, with changes."""
    values: dict[str, Any] = {
        "job_digest": "d" * 64, "exit_cause": ExitCause.FINISHED, "exit_status": 0, "tests": PASSED,
        "wall_seconds": 1.25, "cpu_seconds": 0.5,
    }  # fmt: skip
    return ExecutionRecord(**(values | changes))


def broken(outcome: TestOutcome, exception: str = "", message: str = "", index: int = 0) -> tuple[TestResult, ...]:
    """Results in which one test did not pass."""
    changed = list(PASSED)
    changed[index] = result(IDS[index], outcome, exception, message)
    return tuple(changed)


def load_error(phase: str, exception: str, line: int | None = None, module: str | None = None) -> dict[str, Any]:
    """A run that ended before the first test."""
    error = LoadError(phase=phase, exception=exception, message=f"{exception}: m", line=line, missing_module=module)
    return {"load_error": error, "tests": (), "missing_modules": (module,) if module else ()}


NOT_RUN, EXCEPTION = Reason.TESTS_NOT_RUN, Reason.EXCEPTION
# Name, changes to the record, outcome, reason, words of the detail.
CASES: list[tuple[str, dict[str, Any], Outcome, Reason, str]] = [
    ("everything passed", {}, Outcome.PASSED, Reason.ALL_TESTS_PASSED, "3 of 3 tests passed"),
    ("order of reports", {"tests": PASSED[::-1]}, Outcome.PASSED, Reason.ALL_TESTS_PASSED, "3 of 3"),
    (
        "lost",
        {"exit_cause": ExitCause.LOST, "lost_reason": "broke", "tests": ()},
        Outcome.FAULT,
        Reason.SANDBOX_LOST,
        "broke",
    ),
    ("lost although all passed", {"exit_cause": ExitCause.LOST}, Outcome.FAULT, Reason.SANDBOX_LOST, ""),
    ("interference", {"interference": ("patched", "more")}, Outcome.FAILED, Reason.TAMPERED, "patched"),
    ("protocol", {"protocol_errors": ("frame 2 is not signed",)}, Outcome.FAILED, Reason.TAMPERED, "frame 2"),
    ("stranger", {"tests": (*PASSED, result("TestCases.test_z"))}, Outcome.FAILED, Reason.TAMPERED, "test_z"),
    (
        "interference before limit",
        {"interference": ("patched",), "exit_cause": ExitCause.WALL_TIME},
        Outcome.FAILED,
        Reason.TAMPERED,
        "",
    ),
    (
        "wall",
        {"exit_cause": ExitCause.WALL_TIME, "tests": PASSED[:1]},
        Outcome.OVER_LIMIT,
        Reason.WALL_TIME,
        "1 of 3 tests done",
    ),
    ("wall after all passed", {"exit_cause": ExitCause.WALL_TIME}, Outcome.OVER_LIMIT, Reason.WALL_TIME, "3 of 3"),
    ("cpu", {"exit_cause": ExitCause.CPU_TIME, "tests": ()}, Outcome.OVER_LIMIT, Reason.CPU_TIME, "cpu time"),
    ("memory", {"exit_cause": ExitCause.MEMORY, "tests": ()}, Outcome.OVER_LIMIT, Reason.MEMORY, "memory"),
    ("output", {"exit_cause": ExitCause.OUTPUT, "tests": ()}, Outcome.OVER_LIMIT, Reason.OUTPUT, "output"),
    (
        "limit before failure",
        {"exit_cause": ExitCause.WALL_TIME, "tests": broken(TestOutcome.FAILED)},
        Outcome.OVER_LIMIT,
        Reason.WALL_TIME,
        "",
    ),
    (
        "assertion",
        {"tests": broken(TestOutcome.FAILED, "AssertionError", "Traceback\nAssertionError: 1 != 2\n")},
        Outcome.FAILED,
        Reason.ASSERTION,
        "TestCases.test_a: AssertionError: 1 != 2",
    ),
    (
        "error",
        {"tests": broken(TestOutcome.ERROR, "KeyError", "Traceback\nKeyError: 'x'")},
        Outcome.FAILED,
        EXCEPTION,
        "KeyError: 'x'",
    ),
    (
        "exit in a test",
        {"tests": broken(TestOutcome.ERROR, "SystemExit", "SystemExit: 0")},
        Outcome.FAILED,
        NOT_RUN,
        "SystemExit",
    ),
    (
        "interrupt in a test",
        {"tests": broken(TestOutcome.ERROR, "KeyboardInterrupt")},
        Outcome.FAILED,
        NOT_RUN,
        "error",
    ),
    (
        "unplanned skip",
        {"tests": broken(TestOutcome.SKIPPED, "SkipTest", "SkipTest: no")},
        Outcome.FAILED,
        Reason.TESTS_SKIPPED,
        "SkipTest",
    ),
    (
        "planned skip",
        {"tests": broken(TestOutcome.SKIPPED, index=2)},
        Outcome.PASSED,
        Reason.ALL_TESTS_PASSED,
        "3 of 3",
    ),
    (
        "planned expected failure",
        {"tests": broken(TestOutcome.EXPECTED_FAILURE, index=2)},
        Outcome.PASSED,
        Reason.ALL_TESTS_PASSED,
        "",
    ),
    (
        "unplanned expected failure",
        {"tests": broken(TestOutcome.EXPECTED_FAILURE)},
        Outcome.FAILED,
        EXCEPTION,
        "expected_failure",
    ),
    (
        "unexpected success",
        {"tests": broken(TestOutcome.UNEXPECTED_SUCCESS, index=2)},
        Outcome.FAILED,
        EXCEPTION,
        "unexpected_success",
    ),
    (
        "first complaint in plan order",
        {"tests": (result(IDS[1], TestOutcome.ERROR, "KeyError"), result(IDS[0], TestOutcome.FAILED), PASSED[2])},
        Outcome.FAILED,
        Reason.ASSERTION,
        "test_a",
    ),
    ("not all ran", {"tests": PASSED[:2]}, Outcome.FAILED, NOT_RUN, "1 of 3"),
    ("early exit", {"exit_cause": ExitCause.EXITED, "tests": ()}, Outcome.FAILED, NOT_RUN, "3 of 3"),
    (
        "failed, then left",
        {"exit_cause": ExitCause.EXITED, "tests": broken(TestOutcome.FAILED)[:1]},
        Outcome.FAILED,
        Reason.ASSERTION,
        "",
    ),
    ("no closing frame", {"exit_cause": ExitCause.EXITED, "exit_status": 3}, Outcome.FAILED, NOT_RUN, "status 3"),
    (
        "crash",
        {"exit_cause": ExitCause.SIGNAL, "exit_status": -11, "tests": PASSED[:1]},
        Outcome.FAILED,
        Reason.CRASHED,
        "signal 11",
    ),
    (
        "crash after all passed",
        {"exit_cause": ExitCause.SIGNAL, "exit_status": -6},
        Outcome.FAILED,
        Reason.CRASHED,
        "signal 6",
    ),
    (
        "fixture",
        {"facts": (("tier", "bare"), ("fixture", "tearDownClass: OSError: no"))},
        Outcome.FAILED,
        EXCEPTION,
        "tearDownClass",
    ),
    ("entry point", load_error("entry_point", "NameError"), Outcome.UNUSABLE, Reason.ENTRY_POINT_MISSING, "NameError"),
    ("syntax", load_error("answer", "SyntaxError", 7), Outcome.UNUSABLE, Reason.SYNTAX_ERROR, "line 7: "),
    ("indentation", load_error("answer", "IndentationError", 2), Outcome.UNUSABLE, Reason.SYNTAX_ERROR, "line 2: "),
    ("tabs", load_error("answer", "TabError", 2), Outcome.UNUSABLE, Reason.SYNTAX_ERROR, ""),
    ("syntax of the tests", load_error("tests", "SyntaxError", 1), Outcome.FAILED, EXCEPTION, "while loading"),
    ("exit while loading", load_error("answer", "SystemExit", 3), Outcome.FAILED, NOT_RUN, "SystemExit"),
    (
        "interrupt while loading",
        load_error("answer", "KeyboardInterrupt"),
        Outcome.FAILED,
        NOT_RUN,
        "KeyboardInterrupt",
    ),
    ("skip while loading", load_error("answer", "SkipTest"), Outcome.FAILED, Reason.TESTS_SKIPPED, "SkipTest"),
    (
        "error while loading",
        load_error("answer", "ValueError", 4),
        Outcome.FAILED,
        EXCEPTION,
        "while loading, line 4: ValueError",
    ),
    ("import while loading", load_error("answer", "ModuleNotFoundError", 1, "nosuch"), Outcome.FAILED, EXCEPTION, ""),
    (
        "unavailable while loading",
        load_error("answer", "ModuleNotFoundError", 1, "torch"),
        Outcome.FAULT,
        Reason.LIBRARY_UNAVAILABLE,
        "torch",
    ),
    (
        "unavailable in a test",
        {"tests": broken(TestOutcome.ERROR, "ImportError"), "missing_modules": ("torch",)},
        Outcome.FAULT,
        Reason.LIBRARY_UNAVAILABLE,
        "torch",
    ),
    ("unavailable, yet passed", {"missing_modules": ("torch",)}, Outcome.PASSED, Reason.ALL_TESTS_PASSED, ""),
    (
        "unavailable, yet tampered",
        {"missing_modules": ("torch",), "interference": ("x",)},
        Outcome.FAILED,
        Reason.TAMPERED,
        "",
    ),
]


@pytest.mark.parametrize(
    ("changes", "outcome", "reason", "words"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_rule(changes: dict[str, Any], outcome: Outcome, reason: Reason, words: str) -> None:
    """Each kind of record has one outcome, one reason and a sentence."""
    verdict = judge(PLAN, record(**changes), frozenset({"torch"}))
    assert (verdict.outcome, verdict.reason) == (outcome, reason)
    assert words in verdict.detail
    assert verdict.planned == 3
    assert verdict.judge_version == JUDGE_VERSION
    assert verdict.scored == (outcome is not Outcome.FAULT)


def test_verdicts_of_the_golden_file() -> None:
    """Records kept in a file get the verdicts kept beside them, to the letter.

    A wanted change of the judge raises ``JUDGE_VERSION`` and this file is written anew: run this module.
    """
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert golden["judge_version"] == JUDGE_VERSION
    assert [entry["name"] for entry in golden["entries"]] == [case[0] for case in CASES]
    for entry in golden["entries"]:
        verdict = judge(PLAN, ExecutionRecord.from_plain(entry["record"]), frozenset({"torch"}))
        assert plain(verdict) == entry["verdict"], entry["name"]


def plain(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain data."""
    return {field.name: getattr(verdict, field.name) for field in fields(verdict)}


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        (Reason.EMPTY, Outcome.NO_ANSWER),
        (Reason.MISSING, Outcome.NO_ANSWER),
        (Reason.TRUNCATED, Outcome.NO_ANSWER),
        (Reason.REFUSED, Outcome.NO_ANSWER),
        (Reason.NOT_TEXT, Outcome.UNUSABLE),
        (Reason.TOO_LARGE, Outcome.UNUSABLE),
    ],
)
def test_nothing_to_run(reason: Reason, outcome: Outcome) -> None:
    """What cannot be run is told apart from what was never given; nothing is said to have been executed."""
    verdict = judge_no_answer(NoAnswer(reason=reason, detail="why"), PLAN)
    assert (verdict.outcome, verdict.reason, verdict.detail) == (outcome, reason, "why")
    assert (verdict.planned, verdict.passed, verdict.record_digest) == (3, 0, None)


def test_passing_tests_are_counted() -> None:
    """The count is of planned tests that passed, whatever the verdict."""
    assert judge(PLAN, record(tests=broken(TestOutcome.FAILED))).passed == 2
    assert judge(PLAN, record(tests=PASSED[:1])).passed == 1
    assert judge(PLAN, record(tests=(*PASSED, result("TestCases.test_z")))).passed == 3


def test_details_are_short() -> None:
    """A detail is a sentence for a table, however long the message."""
    long = broken(TestOutcome.ERROR, "ValueError", "ValueError: " + "x" * 5000)
    assert len(judge(PLAN, record(tests=long)).detail) <= 300
    error = LoadError(phase="answer", exception="ValueError", message="x" * 5000)
    assert len(judge(PLAN, record(load_error=error, tests=())).detail) <= 300


# Properties over records of every kind, likely and unlikely.

results = st.builds(
    result,
    st.sampled_from([*IDS, "TestCases.test_z"]),
    st.sampled_from(TestOutcome),
    st.sampled_from(["", "AssertionError", "KeyError", "SystemExit", "ImportError"]),
    st.sampled_from(["", "Traceback\nKeyError: 1"]),
)
load_errors = st.builds(
    LoadError,
    phase=st.sampled_from(["stub", "answer", "entry_point", "tests"]),
    exception=st.sampled_from(["SyntaxError", "NameError", "SystemExit", "SkipTest", "ModuleNotFoundError"]),
    message=st.just("m"),
    line=st.none() | st.integers(1, 9),
)


def rarely(strategy: st.SearchStrategy[Any], otherwise: Any) -> st.SearchStrategy[Any]:
    """Mostly the ordinary value, so that records which pass are among those drawn."""
    return st.one_of(st.just(otherwise), st.just(otherwise), st.just(otherwise), strategy)


records = st.builds(
    record,
    exit_cause=rarely(st.sampled_from(ExitCause), ExitCause.FINISHED),
    exit_status=rarely(st.integers(-15, 3), 0),
    tests=rarely(st.lists(results, max_size=4).map(tuple), PASSED),
    load_error=rarely(load_errors, None),
    interference=rarely(st.just(("x",)), ()),
    protocol_errors=rarely(st.just(("y",)), ()),
    missing_modules=rarely(st.just(("torch",)), ()),
    facts=rarely(st.just((("fixture", "tearDownClass: E"),)), ()),
)
plans = st.sampled_from([PLAN, replace(PLAN, tests=PLAN.tests[:2])])


@given(plans, records)
def test_passed_needs_every_witness(plan: TestPlan, seen: ExecutionRecord) -> None:
    """`PASSED` means: all planned tests and no others passed, orderly end, nothing odd seen by anyone."""
    verdict = judge(plan, seen, frozenset({"torch"}))
    if verdict.outcome is not Outcome.PASSED:
        return
    assert seen.exit_cause is ExitCause.FINISHED
    assert seen.interference == seen.protocol_errors == ()
    assert seen.load_error is None
    assert {test.id for test in seen.tests} == {test.id for test in plan.tests}
    allowed = {TestOutcome.PASSED, TestOutcome.SKIPPED, TestOutcome.EXPECTED_FAILURE}
    assert all(test.outcome is TestOutcome.PASSED or test.id == IDS[2] for test in seen.tests)
    assert all(test.outcome in allowed for test in seen.tests)
    assert verdict.passed == verdict.planned == len(plan.tests)


@given(plans, records)
def test_only_a_machine_in_the_way_is_a_fault(plan: TestPlan, seen: ExecutionRecord) -> None:
    """`FAULT` means lost, or a library this environment lacks; a lost job is always a fault."""
    verdict = judge(plan, seen, frozenset({"torch"}))
    if seen.exit_cause is ExitCause.LOST:
        assert (verdict.outcome, verdict.reason) == (Outcome.FAULT, Reason.SANDBOX_LOST)
    elif verdict.outcome is Outcome.FAULT:
        assert verdict.reason is Reason.LIBRARY_UNAVAILABLE
        assert "torch" in seen.missing_modules
        assert judge(plan, seen).outcome is not Outcome.PASSED, "what passes is never a fault"


@given(plans, records)
def test_a_verdict_depends_on_plan_and_record_alone(plan: TestPlan, seen: ExecutionRecord) -> None:
    """The same evidence, also after a way through storage, gives the same verdict."""
    again = ExecutionRecord.from_plain(json.loads(json.dumps(seen.to_plain())))
    assert judge(plan, again) == judge(plan, seen)
    assert judge(plan, seen).record_digest == judge(plan, again).record_digest


@given(plans, records, st.sampled_from(["interference", "protocol_errors"]))
def test_interference_never_helps(plan: TestPlan, seen: ExecutionRecord, field: str) -> None:
    """With a sign of interference nothing passes."""
    changed = replace(seen, **{field: ("seen",)})  # type: ignore[arg-type]
    assert judge(plan, changed).outcome in (Outcome.FAILED, Outcome.FAULT)


@given(plans, records)
def test_outcomes_and_reasons_belong_together(plan: TestPlan, seen: ExecutionRecord) -> None:
    """Each reason stands under one outcome only, as the list of reasons says."""
    outcome_of = {
        Reason.ALL_TESTS_PASSED: Outcome.PASSED,
        Reason.SYNTAX_ERROR: Outcome.UNUSABLE, Reason.ENTRY_POINT_MISSING: Outcome.UNUSABLE,
        Reason.WALL_TIME: Outcome.OVER_LIMIT, Reason.CPU_TIME: Outcome.OVER_LIMIT,
        Reason.MEMORY: Outcome.OVER_LIMIT, Reason.OUTPUT: Outcome.OVER_LIMIT,
        Reason.SANDBOX_LOST: Outcome.FAULT, Reason.LIBRARY_UNAVAILABLE: Outcome.FAULT,
    }  # fmt: skip
    verdict = judge(plan, seen, frozenset({"torch"}))
    assert verdict.outcome is outcome_of.get(verdict.reason, Outcome.FAILED)


def write_golden() -> None:
    """Write the golden file anew from the cases above."""
    entries = []
    for name, changes, *_ in CASES:
        seen = record(**changes)
        verdict = judge(PLAN, seen, frozenset({"torch"}))
        entries.append({"name": name, "record": seen.to_plain(), "verdict": plain(verdict)})
    document = {"judge_version": JUDGE_VERSION, "entries": entries}
    GOLDEN.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_golden()


# What was missing


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("NameError: name 'np' is not defined", ("np",)),
        ("NameError: name 'fraem' is not defined. Did you mean: 'frame'?", ("fraem",)),
        ("NameError: name 'größe' is not defined", ("größe",)),
        ("ModuleNotFoundError: No module named 'seaborn'", ("seaborn",)),
        ("ModuleNotFoundError: No module named 'scipy.statz'", ("scipy.statz",)),
        ("AttributeError: module 'matplotlib' has no attribute 'pyplot'", ("matplotlib.pyplot",)),
        ("AttributeError: <module '__test__' from '__test__.py'> does not have the attribute 'randint'", ("randint",)),
        ("AttributeError: module '__test__' has no attribute 'pd'", ("pd",)),
        ("ModuleNotFoundError: No module named '__test__.pd'; '__test__' is not a package", ("pd",)),
        ("UnboundLocalError: local variable 'df' referenced before assignment", ()),
        ("NameError: free variable 'df' referenced before assignment in enclosing scope", ()),
        ("AttributeError: 'dict' object has no attribute 'norm'", ()),
        ("AssertionError: \"NameError: name 'np' is not defined\" != ''", ()),
        ("", ()),
    ],
)
def test_missing_names_are_read_out_of_messages(message: str, names: tuple[str, ...]) -> None:
    """Undefined names, absent modules and absent members count; unbound local variables and other text do not."""
    trace = f'Traceback (most recent call last):\n  File "answer.py", line 3, in task_func\n{message}\n'
    failed = record(tests=broken(TestOutcome.ERROR, message.partition(":")[0], trace))
    assert missing_names(failed) == names


def test_missing_names_are_met_once_each_and_in_order() -> None:
    """Load error, failed tests and fixtures are read in this order; chained errors count, passed tests do not."""
    trace = "NameError: name 'b' is not defined\n\nDuring handling …\n\nNameError: name 'a' is not defined"
    tests = (
        result(IDS[0], TestOutcome.PASSED, message="NameError: name 'never' is not defined"),
        result(IDS[1], TestOutcome.FAILED, "AssertionError", trace),
        result(IDS[2], TestOutcome.ERROR, "NameError", "NameError: name 'b' is not defined"),
    )
    load = LoadError(phase="answer", exception="NameError", message="NameError: name 'Axes' is not defined")
    facts = (("python", "3.10"), ("fixture", "setUpClass: NameError: name 'c' is not defined"))
    assert missing_names(record(load_error=load, tests=tests, facts=facts)) == ("Axes", "b", "a", "c")
    assert missing_names(record()) == ()


def test_a_missing_entry_point_is_no_missing_name() -> None:
    """An answer without the function that the tests call lacks nothing that a stub could give."""
    load = LoadError(phase="entry_point", exception="NameError", message="NameError: the answer does not define f")
    assert missing_names(record(load_error=load)) == ()
