"""From the record of a function problem to its verdict.

The order of the rules is the order of what can be trusted: first whether there is evidence at all, then whether
the machine stood in the way, then signs of interference, then limits, then how far the tests came, and only at
the end what the tests said.  `PASSED` needs every witness to agree.
"""

import re

from benchwright.core.answers import NoAnswer
from benchwright.core.digest import digest_of
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

JUDGE_VERSION = 1

_UNUSABLE = {Reason.SYNTAX_ERROR, Reason.ENTRY_POINT_MISSING, Reason.NO_CODE, Reason.NOT_TEXT, Reason.TOO_LARGE}
_NO_REPLY = {Reason.PROVIDER_ERROR}
_LIMIT_REASONS = {
    ExitCause.WALL_TIME: Reason.WALL_TIME,
    ExitCause.CPU_TIME: Reason.CPU_TIME,
    ExitCause.MEMORY: Reason.MEMORY,
    ExitCause.OUTPUT: Reason.OUTPUT,
}
_DETAIL_CHARACTERS = 300

_ANSWER_MODULE = "__test__"
"""What the module of answer and tests is called where it runs; its own names are reported without it."""
# Each gives a name, or a module and a name in it.  A local variable that is not bound yet is another mistake, and has
# another message.
_MISSING = re.compile(
    r"^NameError: name '(?P<name>\w+)' is not defined"
    r"|^ModuleNotFoundError: No module named '(?P<import>[\w.]+)'"
    r"|^AttributeError: module '(?P<module>[\w.]+)' has no attribute '(?P<attribute>\w+)'"
    r"|^AttributeError: <module '(?P<patched>[\w.]+)'.*> does not have the attribute '(?P<patch>\w+)'",
    re.MULTILINE,
)


def judge_no_answer(answer: NoAnswer, plan: TestPlan) -> Verdict:
    """The verdict of an attempt with nothing to run."""
    if answer.reason in _NO_REPLY:
        outcome = Outcome.FAULT
    else:
        outcome = Outcome.UNUSABLE if answer.reason in _UNUSABLE else Outcome.NO_ANSWER
    return _verdict(outcome, answer.reason, answer.detail, plan, passed=0, record_digest=None)


def judge(plan: TestPlan, record: ExecutionRecord, unavailable_modules: frozenset[str] = frozenset()) -> Verdict:
    """The verdict of one execution.

    Args:
        plan: The tests that had to run.
        record: What was seen.
        unavailable_modules: Modules the benchmark's full environment has and the one used lacks; an answer that
            failed after asking for one of them is not wrong but unavailable here.
    """
    digest = digest_of(record.to_plain())
    by_id = {test.id: test for test in record.tests}
    passed = sum(1 for test in plan.tests if _counts_as_passed(test, by_id.get(test.id)))
    outcome, reason, detail = _decide(plan, record, by_id, unavailable_modules)
    return _verdict(outcome, reason, detail, plan, passed=passed, record_digest=digest)


def missing_names(record: ExecutionRecord) -> tuple[str, ...]:
    """Names and modules whose absence made the answer or a test fail, each once, in the order they were met.

    They are read out of the messages: names that are not defined, modules that are not there, and members of modules
    that are not (``matplotlib.pyplot`` when matplotlib alone was imported).
    """
    texts = [record.load_error.message] if record.load_error is not None else []
    texts += [test.message for test in record.tests if test.outcome is not TestOutcome.PASSED]
    texts += [text.partition(": ")[2] for name, text in record.facts if name == "fixture"]
    return tuple(dict.fromkeys(_missing_name(found) for text in texts for found in _MISSING.finditer(text)))


def _missing_name(found: re.Match[str]) -> str:
    whole = found["name"] or found["import"]
    if whole is None:
        whole = f"{found['module'] or found['patched']}.{found['attribute'] or found['patch']}"
    return whole.removeprefix(f"{_ANSWER_MODULE}.")


def _decide(
    plan: TestPlan,
    record: ExecutionRecord,
    by_id: dict[str, TestResult],
    unavailable: frozenset[str],
) -> tuple[Outcome, Reason, str]:
    if record.exit_cause is ExitCause.LOST:
        return Outcome.FAULT, Reason.SANDBOX_LOST, record.lost_reason
    tampering = _tampering(plan, record)
    if tampering:
        return Outcome.FAILED, Reason.TAMPERED, tampering
    if record.exit_cause in _LIMIT_REASONS:
        return Outcome.OVER_LIMIT, _LIMIT_REASONS[record.exit_cause], _limit_detail(plan, record)
    complaint = _complaint(plan, record, by_id)
    if complaint is None:
        count = len(plan.tests)
        return Outcome.PASSED, Reason.ALL_TESTS_PASSED, f"{count} of {count} tests passed"
    lacking = sorted(unavailable & set(record.missing_modules))
    if lacking:
        return Outcome.FAULT, Reason.LIBRARY_UNAVAILABLE, f"this environment has no {', '.join(lacking)}"
    return complaint


def _tampering(plan: TestPlan, record: ExecutionRecord) -> str:
    if record.interference:
        return record.interference[0]
    if record.protocol_errors:
        return record.protocol_errors[0]
    strangers = [test.id for test in record.tests if test.id not in {planned.id for planned in plan.tests}]
    return f"an unplanned test {strangers[0]} was reported" if strangers else ""


def _limit_detail(plan: TestPlan, record: ExecutionRecord) -> str:
    done = len(record.tests)
    cause = record.exit_cause.value.replace("_", " ")
    return (
        f"stopped for {cause} after {record.wall_seconds:.1f} s ({record.cpu_seconds:.1f} s CPU), "
        f"{done} of {len(plan.tests)} tests done"
    )


def _complaint(
    plan: TestPlan, record: ExecutionRecord, by_id: dict[str, TestResult]
) -> tuple[Outcome, Reason, str] | None:
    """Why the attempt did not pass, or None when every witness says it did."""
    if record.load_error is not None:
        return _load_complaint(record.load_error)
    for test in plan.tests:
        result = by_id.get(test.id)
        if result is not None and not _counts_as_passed(test, result):
            return _test_complaint(result)
    for name, text in record.facts:
        if name == "fixture":
            return Outcome.FAILED, Reason.EXCEPTION, _clip(text)
    missing = [test.id for test in plan.tests if test.id not in by_id]
    if record.exit_cause is ExitCause.SIGNAL:
        return Outcome.FAILED, Reason.CRASHED, f"the process died of signal {-(record.exit_status or 0)}"
    if missing:
        detail = f"the process ended before {len(missing)} of {len(plan.tests)} tests had run"
        return Outcome.FAILED, Reason.TESTS_NOT_RUN, detail
    if record.exit_cause is not ExitCause.FINISHED:
        detail = f"the process ended with status {record.exit_status} before it had closed its report"
        return Outcome.FAILED, Reason.TESTS_NOT_RUN, detail
    return None


def _load_complaint(error: LoadError) -> tuple[Outcome, Reason, str]:
    if error.phase == "entry_point":
        return Outcome.UNUSABLE, Reason.ENTRY_POINT_MISSING, error.message
    if error.phase == "answer" and error.exception in ("SyntaxError", "IndentationError", "TabError"):
        return Outcome.UNUSABLE, Reason.SYNTAX_ERROR, _clip(f"line {error.line}: {error.message}")
    if error.exception in ("SystemExit", "KeyboardInterrupt"):
        return Outcome.FAILED, Reason.TESTS_NOT_RUN, f"the answer raised {error.exception} while it was loaded"
    if error.exception == "SkipTest":
        return Outcome.FAILED, Reason.TESTS_SKIPPED, "the answer raised SkipTest while it was loaded"
    where = f"line {error.line}: " if error.line else ""
    return Outcome.FAILED, Reason.EXCEPTION, _clip(f"while loading, {where}{error.message}")


def _test_complaint(result: TestResult) -> tuple[Outcome, Reason, str]:
    detail = _clip(f"{result.id}: {_headline(result) or result.outcome.value}")
    match result.outcome:
        case TestOutcome.SKIPPED:
            return Outcome.FAILED, Reason.TESTS_SKIPPED, detail
        case TestOutcome.FAILED:
            return Outcome.FAILED, Reason.ASSERTION, detail
        case TestOutcome.ERROR if result.exception in ("SystemExit", "KeyboardInterrupt"):
            return Outcome.FAILED, Reason.TESTS_NOT_RUN, detail
        case _:
            return Outcome.FAILED, Reason.EXCEPTION, detail


def _counts_as_passed(planned: PlannedTest, result: TestResult | None) -> bool:
    if result is None:
        return False
    if planned.may_skip and result.outcome in (TestOutcome.SKIPPED, TestOutcome.EXPECTED_FAILURE):
        return True
    return result.outcome is TestOutcome.PASSED


def _headline(result: TestResult) -> str:
    """The line of a traceback that names the exception; what follows it, such as a diff, is in the record."""
    lines = result.message.strip().splitlines()
    named = [line for line in lines if result.exception and line.startswith(result.exception)]
    return named[-1] if named else (lines[-1] if lines else "")


def _clip(text: str) -> str:
    # What an answer wrote is shown in terminals and pages: no control characters, no lone surrogates.
    text = "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)
    return text if len(text) <= _DETAIL_CHARACTERS else text[: _DETAIL_CHARACTERS - 1] + "…"


def _verdict(
    outcome: Outcome, reason: Reason, detail: str, plan: TestPlan, *, passed: int, record_digest: str | None
) -> Verdict:
    return Verdict(
        outcome=outcome,
        reason=reason,
        detail=detail,
        planned=len(plan.tests),
        passed=passed,
        judge_version=JUDGE_VERSION,
        record_digest=record_digest,
    )
