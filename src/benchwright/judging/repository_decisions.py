"""What judges of repository problems decide, and the words for it."""

from collections.abc import Sequence
from typing import NamedTuple

from benchwright.core.execution import ExitCause
from benchwright.core.repositories import RepositoryProblem, RepositoryRecord, Step, required_tests
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.judging.repository_evidence import RequiredTest

REPOSITORY_JUDGE_VERSION = 1
"""Raised whenever the same evidence may get another verdict."""

LIMIT_REASONS = {
    ExitCause.WALL_TIME: Reason.WALL_TIME,
    ExitCause.CPU_TIME: Reason.CPU_TIME,
    ExitCause.MEMORY: Reason.MEMORY,
    ExitCause.OUTPUT: Reason.OUTPUT,
}
"""Reason of the verdict, by the limit that ended a step."""

_SHELL_SIGNALS = range(128 + 1, 128 + 65)
_NAMED_TESTS = 3
_DETAIL_CHARACTERS = 300


class Decision(NamedTuple):
    """A verdict without its counts."""

    outcome: Outcome
    reason: Reason
    detail: str


def as_verdict(decision: Decision, problem: RepositoryProblem, *, passed: int, record_digest: str | None) -> Verdict:
    """The verdict for a decision; ``passed`` counts required tests."""
    return Verdict(
        outcome=decision.outcome,
        reason=decision.reason,
        detail=_clip(decision.detail),
        planned=len(required_tests(problem)),
        passed=passed,
        judge_version=REPOSITORY_JUDGE_VERSION,
        record_digest=record_digest,
    )


def failed(reason: Reason, detail: str) -> Decision:
    """The decision on a patch that ran and is wrong."""
    return Decision(Outcome.FAILED, reason, detail)


def lost(record: RepositoryRecord, *, reference_runs: bool) -> Decision | None:
    """The decision on a record without evidence, because the sandbox broke; None when there is some.

    Args:
        record: What was seen.
        reference_runs: Whether the reference resolves the instance in the same sandbox here.  Then a sandbox that
            breaks each time the candidate's code runs in it is the candidate's doing.
    """
    broke = next((step for step in record.steps if step.exit_cause is ExitCause.LOST), None)
    if not record.lost_reason and broke is None:
        return None
    why = record.lost_reason or "the sandbox was lost"
    if reference_runs and broke is not None:
        times = f"{record.attempts} times of {record.attempts}"
        return failed(Reason.CRASHED, f"the {broke.name} command broke its sandbox, {times}: {why}")
    return Decision(Outcome.FAULT, Reason.SANDBOX_LOST, why)


def rejected(record: RepositoryRecord) -> Decision | None:
    """The decision on a patch that was not applied; None when it was."""
    if record.patch_applied:
        return None
    detail = record.patch_message or "the patch does not apply to the base commit"
    return Decision(Outcome.UNUSABLE, Reason.PATCH_REJECTED, detail)


def not_reached(record: RepositoryRecord) -> Decision:
    """The decision when the test command did not start."""
    if not record.steps:
        return failed(Reason.TESTS_NOT_RUN, "the test command was not reached")
    last = record.steps[-1]
    if last.exit_cause in LIMIT_REASONS:
        return over_limit(last, "the test command was not reached")
    detail = f"the {last.name} command ended with {status_text(last)}; the test command was not reached"
    return failed(Reason.TESTS_NOT_RUN, detail)


def over_limit(step: Step, rest: str) -> Decision:
    """The decision on a run that a limit ended."""
    cause = step.exit_cause.value.replace("_", " ")
    detail = f"the {step.name} command was stopped for {cause} after {step.wall_seconds:.0f} s; {rest}"
    return Decision(Outcome.OVER_LIMIT, LIMIT_REASONS[step.exit_cause], detail)


def not_passed(tests: Sequence[RequiredTest]) -> Decision:
    """The decision on a run in which not all required tests passed."""
    missing = [test for test in tests if not test.passed]
    turning = [test for test in missing if test.turns]
    kept = [test for test in missing if not test.turns]
    asked = sum(test.turns for test in tests)
    if not turning:
        detail = f"{len(kept)} of {len(tests) - asked} tests that passed before did not: {_described(kept)}"
        return failed(Reason.REGRESSION, detail)
    detail = f"{len(turning)} of {asked} tests that the patch is to turn green did not pass: {_described(turning)}"
    if kept:
        detail += f"; neither did {len(kept)} of {len(tests) - asked} that passed before"
    return failed(Reason.TESTS_FAILED, detail)


def signal_of(step: Step) -> int:
    """Number of the signal that ended a command, also where its shell reports that; 0 when none did."""
    status = step.exit_status or 0
    if step.exit_cause is ExitCause.SIGNAL:
        return abs(status)
    return status - 128 if status in _SHELL_SIGNALS else 0


def status_text(step: Step) -> str:
    """How a command ended, in words."""
    signal = signal_of(step)
    return f"signal {signal}" if signal else f"status {step.exit_status}"


def named(tests: Sequence[str]) -> str:
    """The first tests by name, and how many more there are."""
    more = len(tests) - _NAMED_TESTS
    return ", ".join(tests[:_NAMED_TESTS]) + (f" and {more} more" if more > 0 else "")


def _described(tests: Sequence[RequiredTest]) -> str:
    return named([f"{test.id} ({_headline(test)})" for test in tests])


def _headline(test: RequiredTest) -> str:
    outcome = "not seen" if test.outcome is None else test.outcome.value.replace("_", " ")
    line = next(iter(test.detail.strip().splitlines()), "")
    return f"{outcome}: {line}" if line else outcome


def _clip(text: str) -> str:
    # What a candidate wrote is shown in terminals and pages: no control characters, no lone surrogates.
    text = "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)
    return text if len(text) <= _DETAIL_CHARACTERS else text[: _DETAIL_CHARACTERS - 1] + "…"
