"""From the record of a repository problem to its verdict.

A required test passes when the witness of the test runner says so and the log does not say otherwise.  Everything
else decides what a run that did not resolve is called, and whether one that did can be believed: first whether there
is evidence at all, then whether it contradicts itself, then limits, then how the run ended, then what the tests said.
Before a candidate is blamed, the control runs are asked whether the reference meets the same fate here.
"""

from collections.abc import Sequence

from benchwright.core.answers import NoAnswer
from benchwright.core.digest import digest_of
from benchwright.core.execution import TestOutcome
from benchwright.core.repositories import (
    ControlSummary,
    RepositoryControls,
    RepositoryProblem,
    RepositoryRecord,
    Step,
    required_tests,
)
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.judging.repository_decisions import (
    LIMIT_REASONS,
    REPOSITORY_JUDGE_VERSION,
    Decision,
    as_verdict,
    failed,
    lost,
    named,
    not_passed,
    not_reached,
    over_limit,
    rejected,
    signal_of,
    status_text,
)
from benchwright.judging.repository_evidence import (
    Evidence,
    Expectations,
    RequiredTest,
    Source,
    control_expectations,
    expectations,
)
from benchwright.judging.repository_official import judge_official, read_official

__all__ = [
    "REPOSITORY_JUDGE_VERSION",
    "RequiredTest",
    "Source",
    "judge",
    "judge_control",
    "judge_no_patch",
    "judge_official",
    "judge_unavailable",
    "read_official",
    "summarise_control",
    "test_statuses",
    "tests_seen",
]

_UNUSABLE = frozenset({Reason.NOT_A_PATCH, Reason.NOT_TEXT, Reason.TOO_LARGE, Reason.PATCH_REJECTED})
_NO_REPLY = frozenset({Reason.PROVIDER_ERROR, Reason.SANDBOX_LOST})
# pytest's ExitCode: interrupted (which is what errors of collection count as), internal error, wrong usage, no tests.
_PYTEST_NOT_RUN = {2: "interrupted", 3: "internal error", 4: "wrong usage", 5: "no tests collected"}
_SAME_FATE = frozenset({Reason.PATCH_REJECTED, Reason.TESTS_NOT_RUN, Reason.CRASHED, *LIMIT_REASONS.values()})
"""Reasons that the environment explains as soon as the reference has the same one."""


def judge_no_patch(answer: NoAnswer, problem: RepositoryProblem) -> Verdict:
    """The verdict of an attempt without a patch to apply."""
    if answer.reason in _NO_REPLY:
        outcome = Outcome.FAULT
    else:
        outcome = Outcome.UNUSABLE if answer.reason in _UNUSABLE else Outcome.NO_ANSWER
    return as_verdict(Decision(outcome, answer.reason, answer.detail), problem, passed=0, record_digest=None)


def judge(
    problem: RepositoryProblem, record: RepositoryRecord, *, parser: str, controls: RepositoryControls | None
) -> Verdict:
    """The verdict of one grading.

    Args:
        problem: The row.
        record: What was seen.
        parser: Name of the form of log (`benchwright.judging.logs`).
        controls: The instance's control runs in the same environment; None when there are none.  Without them nothing
            is put down to the environment, and a test that only the log mentions does not pass.

    Raises `UnknownNameError` for an unknown form of log.
    """
    return _judge(problem, record, parser, expectations(problem, controls), controls)


def judge_control(problem: RepositoryProblem, record: RepositoryRecord, *, parser: str) -> Verdict:
    """The verdict of a control run, with the reference or without a patch.

    It is trusted, and shows what the machine does: the sabotaged twin, tests that only the log mentions, skips of
    PASS_TO_PASS, expected failures and odd exit statuses are not held against it.
    """
    return _judge(problem, record, parser, control_expectations(problem), None)


def judge_unavailable(problem: RepositoryProblem, why: str) -> Verdict:
    """The verdict where the instance's environment cannot be had on this machine."""
    decision = Decision(Outcome.FAULT, Reason.ENVIRONMENT_UNAVAILABLE, why)
    return as_verdict(decision, problem, passed=0, record_digest=None)


def test_statuses(
    problem: RepositoryProblem, record: RepositoryRecord, parser: str, controls: RepositoryControls | None
) -> tuple[RequiredTest, ...]:
    """What became of each required test, and who says so; FAIL_TO_PASS first."""
    return Evidence(record, parser).tests(problem, expectations(problem, controls))


def tests_seen(record: RepositoryRecord, parser: str) -> dict[str, bool]:
    """Whether each test of the graded run passed, under the id by which test lists name it.

    For making test lists.  Ids are those of the log's official reading, and where there was a witness only those it
    reported: others are output of tests.  A skip and an expected failure are no pass.
    """
    return Evidence(record, parser).passed_tests()


def summarise_control(
    problem: RepositoryProblem, record: RepositoryRecord, verdict: Verdict, parser: str
) -> ControlSummary:
    """What is kept of a control run for judging others, given its verdict by `judge_control`."""
    evidence = Evidence(record, parser)
    tests = evidence.tests(problem, control_expectations(problem))
    step = evidence.step
    lenient = (TestOutcome.SKIPPED, TestOutcome.EXPECTED_FAILURE)
    return ControlSummary(
        resolved=verdict.outcome is Outcome.PASSED,
        reason=verdict.reason.value,
        detail=verdict.detail,
        exit_cause=None if step is None else step.exit_cause,
        exit_status=None if step is None else step.exit_status,
        not_passed=tuple(sorted(test.id for test in tests if not test.passed)),
        accepted=tuple(sorted(test.id for test in tests if test.passed and test.outcome in lenient)),
        unreported=tuple(sorted(test.id for test in tests if test.outcome and not evidence.reports(test.id))),
        inverted=_inverted(problem, record),
        wall_seconds=record.wall_seconds if step is None else step.wall_seconds,
        cpu_seconds=0.0 if step is None else step.cpu_seconds,
        memory_peak_bytes=0 if step is None else step.memory_peak_bytes,
        report_errors=record.report_errors,
    )


def _inverted(problem: RepositoryProblem, record: RepositoryRecord) -> tuple[str, ...]:
    if record.inversion is None:
        return ()
    turned = set(record.inversion.sabotaged).difference(record.inversion.passed)
    return tuple(sorted(turned.intersection(required_tests(problem))))


def _judge(
    problem: RepositoryProblem,
    record: RepositoryRecord,
    parser: str,
    known: Expectations,
    controls: RepositoryControls | None,
) -> Verdict:
    evidence = Evidence(record, parser)
    tests = evidence.tests(problem, known)
    decision = _decide(problem, evidence, tests, known)
    if controls is not None:
        decision = _with_environment(decision, tests, controls)
    passed = sum(test.passed for test in tests)
    return as_verdict(decision, problem, passed=passed, record_digest=digest_of(record.to_plain()))


def _decide(
    problem: RepositoryProblem, evidence: Evidence, tests: Sequence[RequiredTest], known: Expectations
) -> Decision:
    record, step = evidence.record, evidence.step
    if (broken := lost(record, reference_runs=bool(known.exits))) is not None:
        return broken
    if not problem.fail_to_pass:
        return failed(Reason.TESTS_NOT_RUN, "the row names no test that the patch is to turn green")
    if (refused := rejected(record)) is not None:
        return refused
    if step is None:
        return not_reached(record)
    tampering = _tampering(evidence, step, tests, known)
    if tampering:
        return failed(Reason.TAMPERED, tampering)
    if step.exit_cause in LIMIT_REASONS:
        return over_limit(step, f"{sum(test.passed for test in tests)} of {len(tests)} required tests passed")
    return _finished(evidence, step, tests, known)


def _tampering(evidence: Evidence, step: Step, tests: Sequence[RequiredTest], known: Expectations) -> str:
    """What in the evidence contradicts itself so that no honest run explains it; empty when nothing does."""
    contradicted = [test.id for test in tests if test.contradicted]
    if contradicted:
        return f"the log lists as passed what the test runner reported as failed: {named(contradicted)}"
    bad = [test.id for test in tests if test.source is Source.WITNESS and test.is_bad]
    if bad and step.exit_status == 0 and not known.silent_exit:
        return f"the test command ended with status 0 although tests failed: {named(bad)}"
    if known.is_control:
        return ""
    passed = () if evidence.record.inversion is None else evidence.record.inversion.passed
    forged = [test for test in passed if not known.inverted or test in known.inverted]
    if forged:
        return f"passed even with a statement in it that must fail: {named(forged)}"
    claimed = [test.id for test in tests if test.outcome is TestOutcome.PASSED]
    if known.witnessed and not evidence.has_witness and claimed:
        return f"the log lists tests as passed, and the test runner reported none: {named(claimed)}"
    return ""


def _finished(evidence: Evidence, step: Step, tests: Sequence[RequiredTest], known: Expectations) -> Decision:
    """The decision when the test command ended by itself and nothing contradicts itself."""
    missing = [test for test in tests if not test.passed]
    log_only = [test.id for test in missing if test.log_only]
    if missing and len(log_only) == len(missing):
        hint = "" if known.witnessed else " (control runs tell whether that is so with the reference too)"
        return failed(Reason.TAMPERED, f"only the log lists as passed, not the test runner{hint}: {named(log_only)}")
    ending = _bad_ending(evidence, step, tests, known)
    if ending is not None:
        return ending
    if all(test.outcome is None for test in tests):
        return failed(Reason.TESTS_NOT_RUN, f"none of {len(tests)} required tests ran; {status_text(step)}")
    if missing:
        return not_passed(tests)
    errors = [error for error in evidence.record.report_errors if error not in known.report_errors]
    if errors and not known.is_control:
        return failed(Reason.TAMPERED, f"on the report channel: {errors[0]}")
    suffix = "" if evidence.has_witness else " (log only: no witness reported)"
    detail = f"{len(tests)} of {len(tests)} required tests passed{suffix}"
    return Decision(Outcome.PASSED, Reason.ALL_TESTS_PASSED, detail)


def _bad_ending(evidence: Evidence, step: Step, tests: Sequence[RequiredTest], known: Expectations) -> Decision | None:
    """Why the run did not end as a test run does; None when it did, or as the reference's did."""
    usual = (step.exit_cause, step.exit_status) in known.exits
    usual = usual or (known.is_control and all(test.passed for test in tests))
    if signal_of(step) and not usual:
        return failed(Reason.CRASHED, f"the test command died of signal {signal_of(step)}")
    sessions = evidence.sessions_of(test.id for test in tests)
    if not all(session.closed for session in sessions):
        return failed(
            Reason.TESTS_NOT_RUN, f"the test session was not over when the command ended; {status_text(step)}"
        )
    statuses = {session.exit_status for session in sessions if session.runner == "pytest"}
    if not evidence.has_witness and evidence.is_pytest:
        statuses = {step.exit_status}
    early = sorted(status for status in statuses if status in _PYTEST_NOT_RUN)
    if early and not usual:
        return failed(Reason.TESTS_NOT_RUN, f"pytest ended early: {_PYTEST_NOT_RUN[early[0]]} (status {early[0]})")
    return None


def _with_environment(decision: Decision, tests: Sequence[RequiredTest], controls: RepositoryControls) -> Decision:
    """The decision, put down to the environment if the reference meets the same fate in it.

    It does when it does not resolve either, and ended for the same reason or passes none of the tests that the
    candidate does not pass.  A patch that is refused ran nowhere: it is the environment's only if the reference is
    refused too.
    """
    if decision.outcome in (Outcome.PASSED, Outcome.FAULT) or decision.reason is Reason.TAMPERED:
        return decision
    missing = {test.id for test in tests if not test.passed} if decision.reason is not Reason.PATCH_REJECTED else set()
    for run in controls.reference:
        same_reason = decision.reason in _SAME_FATE and run.reason == decision.reason.value
        if not run.resolved and (same_reason or (missing and missing.issubset(run.not_passed))):
            detail = f"the reference does not resolve here either ({run.reason}: {run.detail})"
            return Decision(Outcome.FAULT, Reason.ENVIRONMENT_BROKEN, detail)
    return decision
