"""The verdict by the official rules: the log alone decides, as in swebench 4.1.0 (``swebench/harness/grading.py``)."""

from typing import NamedTuple

from benchwright.core.digest import digest_of
from benchwright.core.execution import ExitCause
from benchwright.core.repositories import (
    END_OF_TESTS,
    START_OF_TESTS,
    TESTS_STEP,
    RepositoryProblem,
    RepositoryRecord,
    required_tests,
)
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.judging.logs import LogStatus, parse_official
from benchwright.judging.repository_decisions import (
    LIMIT_REASONS,
    Decision,
    as_verdict,
    failed,
    lost,
    named,
    not_reached,
    over_limit,
    rejected,
)

# Any of these anywhere in the log, also where a test or a diff prints it, and the run counts as not evaluated.
_BAD_MARKS = {
    ">>>>> Patch Apply Failed": Decision(Outcome.UNUSABLE, Reason.PATCH_REJECTED, "the log says that it did not apply"),
    ">>>>> Reset Failed": failed(Reason.TESTS_NOT_RUN, "the log says that resetting the test files failed"),
    ">>>>> Tests Errored": failed(Reason.TESTS_NOT_RUN, "the log says that the tests errored"),
    ">>>>> Tests Timed Out": Decision(Outcome.OVER_LIMIT, Reason.WALL_TIME, "the log says that the tests timed out"),
}
_GOOD = frozenset({LogStatus.PASSED.value, LogStatus.XFAIL.value})
_BAD = frozenset({LogStatus.FAILED.value, LogStatus.ERROR.value})


class OfficialReading(NamedTuple):
    """What the official rules read out of a record."""

    obstacle: Decision | None
    """Why nothing was read, if so."""
    statuses: dict[str, str]
    """Status words by test id."""

    def succeeded(self, test: str) -> bool:
        """Whether a test counts as a success."""
        return self.statuses.get(test) in _GOOD

    def did_not(self, test: str) -> bool:
        """Whether it counts as a failure.  A skipped one counts as neither."""
        return test not in self.statuses or self.statuses[test] in _BAD


def judge_official(problem: RepositoryProblem, record: RepositoryRecord, parser: str) -> Verdict:
    """The verdict on a log by the official rules; raises `UnknownNameError` for an unknown form of log.

    A test is a success with the status PASSED or XFAIL, a failure with FAILED, ERROR or none; the patch resolves the
    problem when no required test is a failure.  So skipped tests do no harm, and no tests at all are enough.
    """
    reading = read_official(problem, record, parser)
    decision = reading.obstacle or _decide(problem, reading)
    passed = sum(reading.succeeded(test) for test in required_tests(problem))
    return as_verdict(decision, problem, passed=passed, record_digest=digest_of(record.to_plain()))


def read_official(problem: RepositoryProblem, record: RepositoryRecord, parser: str) -> OfficialReading:
    """The statuses behind `judge_official`, or what stands in their way."""
    step = record.step(TESTS_STEP)
    early = lost(record, reference_runs=False) or rejected(record) or (not_reached(record) if step is None else None)
    if early is not None or step is None:
        return OfficialReading(early, {})
    # The official harness reads the log as text, by which every kind of line end becomes a newline.
    log = step.output.replace("\r\n", "\n").replace("\r", "\n")
    if step.exit_cause is ExitCause.WALL_TIME:
        return OfficialReading(over_limit(step, "the log is not read then"), {})
    mark = next((mark for mark in _BAD_MARKS if mark in log), None)
    if mark is not None:
        return OfficialReading(_BAD_MARKS[mark], {})
    if START_OF_TESTS not in log or END_OF_TESTS not in log:
        detail = "the log lacks the marks around the tests' output"
        limited = step.exit_cause in LIMIT_REASONS
        return OfficialReading(over_limit(step, detail) if limited else failed(Reason.TESTS_NOT_RUN, detail), {})
    between = log.split(START_OF_TESTS)[1].split(END_OF_TESTS)[0]
    return OfficialReading(None, parse_official(parser, between) or parse_official(parser, log))


def _decide(problem: RepositoryProblem, reading: OfficialReading) -> Decision:
    turning = [test for test in problem.fail_to_pass if reading.did_not(test)]
    kept = [test for test in problem.pass_to_pass if reading.did_not(test)]
    if turning:
        detail = f"{len(turning)} of {len(problem.fail_to_pass)} tests that the patch is to turn green did not pass"
        return failed(Reason.TESTS_FAILED, f"{detail}: {named(turning)}")
    if kept:
        detail = f"{len(kept)} of {len(problem.pass_to_pass)} tests that passed before did not"
        return failed(Reason.REGRESSION, f"{detail}: {named(kept)}")
    return Decision(Outcome.PASSED, Reason.ALL_TESTS_PASSED, "no required test failed, by the log")
