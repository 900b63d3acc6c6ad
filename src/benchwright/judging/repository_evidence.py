"""What a run says of each required test, once witness, log and control runs are held against one another."""

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from benchwright.core.execution import ExitCause, TestOutcome
from benchwright.core.repositories import (
    TESTS_STEP,
    WORK,
    RepositoryControls,
    RepositoryProblem,
    RepositoryRecord,
    SessionReport,
    TestReport,
    required_tests,
)
from benchwright.judging.logs import LogStatus, ParsedLog, parse, parse_official
from benchwright.judging.logs.base import STATUS_WORDS

_OTHER_FORMS = frozenset({"django", "sympy"})
_BAD = frozenset({TestOutcome.FAILED, TestOutcome.ERROR})
_LOG_BAD = frozenset({LogStatus.FAILED, LogStatus.ERROR})
_FROM_GOOD_TO_BAD = (
    TestOutcome.PASSED,
    TestOutcome.EXPECTED_FAILURE,
    TestOutcome.SKIPPED,
    TestOutcome.UNEXPECTED_SUCCESS,
    TestOutcome.FAILED,
    TestOutcome.ERROR,
)
_LOG_OUTCOMES = {
    LogStatus.PASSED: TestOutcome.PASSED,
    LogStatus.FAILED: TestOutcome.FAILED,
    LogStatus.ERROR: TestOutcome.ERROR,
    LogStatus.SKIPPED: TestOutcome.SKIPPED,
    LogStatus.XFAIL: TestOutcome.EXPECTED_FAILURE,
}


class Source(enum.StrEnum):
    """Who said what became of a test."""

    WITNESS = "witness"
    LOG = "log"
    NOTHING = "nothing"
    """Neither of them mentions the test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredTest:
    """One required test, as the evidence has it."""

    id: str
    turns: bool
    """Whether the patch is to turn it from failing to passing (FAIL_TO_PASS), rather than to leave it passing."""
    passed: bool
    outcome: TestOutcome | None
    """What it did; None when nothing mentions it."""
    source: Source
    detail: str = ""
    """What the witness added, or what is odd about it."""
    log_only: bool = False
    """The log lists it as passed, and the witness, which was there, did not report it."""
    contradicted: bool = False
    """The log lists it as passed, and the witness reported that it was not."""

    @property
    def is_bad(self) -> bool:
        """Whether it ran and did not hold."""
        return self.outcome in _BAD


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What control runs tell about an instance, so that the machine's share is not put down to the candidate."""

    accepted_skips: frozenset[str] = frozenset()
    accepted_failures: frozenset[str] = frozenset()
    """Tests that may fail as expected."""
    unreported: frozenset[str] = frozenset()
    """Tests that only the log mentions with the reference too."""
    witnessed: bool = False
    """Whether the witness reported required tests with the reference."""
    exits: frozenset[tuple[ExitCause | None, int | None]] = frozenset()
    """How the test command ended when the reference resolved."""
    inverted: frozenset[str] = frozenset()
    """Tests that the sabotaged twin turns to failing; empty when that is not known."""
    report_errors: frozenset[str] = frozenset()
    """What comes over the report channel with the reference too."""
    silent_exit: bool = False
    """Whether the test command is known to end with status 0 although required tests do not pass."""
    is_control: bool = False
    """Whether the run that is judged is itself a control run."""


def expectations(problem: RepositoryProblem, controls: RepositoryControls | None) -> Expectations:
    """What is known before a candidate is judged.

    Without control runs a test of PASS_TO_PASS may fail as expected, for that counts as passed where the lists were
    made (XFAIL, ``swebench/harness/grading.py``).
    """
    if controls is None:
        return Expectations(accepted_failures=_kept(problem))
    required = frozenset(required_tests(problem))
    reference = controls.reference
    accepted = frozenset(test for run in reference for test in run.accepted)
    return Expectations(
        accepted_skips=accepted,
        accepted_failures=accepted,
        unreported=frozenset(test for run in reference for test in run.unreported),
        witnessed=any(required.difference(run.unreported, run.not_passed) for run in reference),
        exits=frozenset((run.exit_cause, run.exit_status) for run in reference if run.resolved),
        inverted=frozenset(test for run in reference for test in run.inverted),
        report_errors=frozenset(error for run in reference for error in run.report_errors),
        silent_exit=any(run.exit_status == 0 and run.not_passed for run in (*reference, *controls.empty)),
    )


def control_expectations(problem: RepositoryProblem) -> Expectations:
    """What is taken as it comes when a control run is judged: it shows what the machine does.

    Skips of PASS_TO_PASS (a tool that is not there) and expected failures are accepted, as are tests that only the
    log mentions.  A skipped FAIL_TO_PASS is not: a test that does not run can tell no patch from another.
    """
    required = frozenset(required_tests(problem))
    return Expectations(
        accepted_skips=_kept(problem),
        accepted_failures=required,
        unreported=required,
        silent_exit=True,
        is_control=True,
    )


def _kept(problem: RepositoryProblem) -> frozenset[str]:
    return frozenset(problem.pass_to_pass).difference(problem.fail_to_pass)


class Evidence:
    """A record's evidence, laid out for questions about tests."""

    def __init__(self, record: RepositoryRecord, parser: str) -> None:
        self.record = record
        self.step = record.step(TESTS_STEP)
        output = self.step.output if self.step is not None else ""
        self.is_pytest = parser not in _OTHER_FORMS
        self.log: ParsedLog = parse(parser, output)
        self._official = parse_official(parser, output)
        self.sessions = tuple(session for session in record.sessions if session.root == WORK)
        """Sessions of the graded run; those elsewhere are tests of the runner itself."""
        self._by_name: dict[str, list[TestReport]] = {}
        own = {session.session for session in self.sessions}
        for report in record.reports:
            if report.session in own:
                for name in {report.id, *report.names}:
                    self._by_name.setdefault(name, []).append(report)

    @property
    def has_witness(self) -> bool:
        """Whether anything came over the report channel."""
        return bool(self.record.sessions or self.record.report_errors)

    def reports(self, test: str) -> tuple[TestReport, ...]:
        """Reports of the graded run that go by an id; several where the id is cut at a space."""
        return tuple(self._by_name.get(test, ()))

    def sessions_of(self, tests: Iterable[str]) -> tuple[SessionReport, ...]:
        """Sessions that reported any of the tests; all of the graded run when none did."""
        numbers = {report.session for test in tests for report in self.reports(test)}
        return tuple(session for session in self.sessions if session.session in numbers) or self.sessions

    def tests(self, problem: RepositoryProblem, known: Expectations) -> tuple[RequiredTest, ...]:
        """Every required test, FAIL_TO_PASS first."""
        turning = frozenset(problem.fail_to_pass)
        return tuple(self._test(test, test in turning, known) for test in required_tests(problem))

    def passed_tests(self) -> dict[str, bool]:
        """Whether each test passed, by the ids of the log's official reading.

        Where there was a witness, only the tests that it reported.
        """
        seen: dict[str, bool] = {}
        for test, word in self._official.items():
            reports = self.reports(test)
            if word in STATUS_WORDS and (reports or not self.has_witness):
                witnessed = all(report.outcome is TestOutcome.PASSED for report in reports)
                seen[test] = witnessed and self.log.statuses[test] is LogStatus.PASSED
        return seen

    def _test(self, test: str, turns: bool, known: Expectations) -> RequiredTest:
        reports = self.reports(test)
        if reports:
            return self._witnessed(test, turns, reports, known)
        status = self.log.statuses.get(test)
        if status is None:
            return RequiredTest(id=test, turns=turns, passed=False, outcome=None, source=Source.NOTHING)
        if self.has_witness and test in known.unreported:
            # Inner runs of a runner's own tests print ids that were taken into the lists as the last line has them.
            word = self._official.get(test, status)
            status = LogStatus(word) if word in STATUS_WORDS else status
        outcome = _LOG_OUTCOMES[status]
        good = _is_good(test, outcome, known)
        doubtful = self.has_witness and test not in known.unreported
        detail = "only the log lists it" if doubtful else "the log lists it"
        return RequiredTest(
            id=test,
            turns=turns,
            passed=good and not doubtful,
            outcome=outcome,
            source=Source.LOG,
            detail=detail,
            log_only=good and doubtful,
        )

    def _witnessed(self, test: str, turns: bool, reports: tuple[TestReport, ...], known: Expectations) -> RequiredTest:
        worst = max(reports, key=lambda report: _FROM_GOOD_TO_BAD.index(report.outcome))
        status = self.log.statuses.get(test)
        outcome, source, detail = worst.outcome, Source.WITNESS, worst.detail
        good = _is_good(test, outcome, known)
        if good and status in _LOG_BAD:
            outcome, source, detail = _LOG_OUTCOMES[status], Source.LOG, "the log lists it, unlike the witness"
        return RequiredTest(
            id=test,
            turns=turns,
            passed=good and source is Source.WITNESS,
            outcome=outcome,
            source=source,
            detail=detail,
            contradicted=worst.outcome in _BAD and self._claims_pass(test, status, reports),
        )

    def _claims_pass(self, test: str, status: LogStatus | None, reports: tuple[TestReport, ...]) -> bool:
        """Whether the log lists a test that failed as passed, and no honest runner's log would.

        In a log of pytest, passed and failed on top of each other is a forgery too, unless some of the tests behind
        the id did pass.  Passed and in error is not: that is a test whose teardown raised.  In other logs an "ok" may
        come from what the test itself printed.
        """
        if status is LogStatus.PASSED:
            return True
        twice = self.is_pytest and status is LogStatus.FAILED and test in self.log.conflicts
        return twice and all(report.outcome in _BAD for report in reports)


def _is_good(test: str, outcome: TestOutcome, known: Expectations) -> bool:
    match outcome:
        case TestOutcome.PASSED:
            return True
        case TestOutcome.SKIPPED:
            return test in known.accepted_skips
        case TestOutcome.EXPECTED_FAILURE:
            return test in known.accepted_failures
        case _:
            return False
