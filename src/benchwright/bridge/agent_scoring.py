"""The scorer of agents' patches: what Inspect's log and viewer show of them."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import anyio
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.scorer import Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from benchwright.bridge.agents import attempt_in
from benchwright.bridge.patches import PATCH
from benchwright.bridge.scoring import NOT_ASKED, cell, fenced
from benchwright.core.agents import AgentAttempt
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome
from benchwright.store.folder import row_to_plain

_SHOWN_TESTS = 40
_BY_RUNNING = re.compile(r"(^|/)(__pycache__|\.pytest_cache|\.hypothesis)(/|$)")
"""What running Python and tests leaves behind, of which there is no need to speak."""
_SHOWN_PATCH = 60_000


class GradedAttempt(NamedTuple):
    """A patch, judged."""

    row: ResultRow
    passed: Sequence[str]
    failed: Sequence[str]


def patch_verdicts(grade: Callable[[Attempt], GradedAttempt], *, at_once: int) -> Scorer:
    """A scorer whose value is 1 for a resolved issue, 0 for another, NaN (not counted) for a fault.

    Args:
        grade: Grades a patch in a fresh workspace; called in worker threads.
        at_once: How many patches are graded side by side.
    """
    room: list[anyio.CapacityLimiter] = []

    @scorer(metrics={"*": [mean(), stderr()]}, name="verdicts")
    def make() -> Scorer:
        async def score(state: TaskState, target: Target) -> InspectScore:
            reason = state.metadata.get(NOT_ASKED)
            if reason:
                return InspectScore.unscored(reason="not_asked", explanation=f"Ended by the run's cap: {reason}")
            if not room:  # it belongs to the event loop
                room.append(anyio.CapacityLimiter(at_once))
            attempt, graded = attempt_in(state, str(state.model))
            result = await anyio.to_thread.run_sync(grade, graded, limiter=room[0])
            return score_of(attempt, result)

        return score

    return make()


def score_of(attempt: AgentAttempt, graded: GradedAttempt) -> InspectScore:
    """A graded patch in Inspect's terms: value, the diff, and everything behind the verdict."""
    verdict = graded.row.verdict
    value = float(verdict.outcome is Outcome.PASSED) if verdict.scored else math.nan
    patch = attempt.submission.patch
    return InspectScore(
        value={Score.PATCH.value: value},
        answer=fenced(_printable(patch), "diff") if patch else "",
        explanation=_explanation(attempt, graded),
        metadata={
            **({PATCH: _printable(patch)} if attempt.ending is not Ending.FAILED else {}),
            "verdict": row_to_plain(graded.row),
            "ending": attempt.ending.value,
            "findings": [
                {"kind": finding.kind.value, "turn": finding.turn, "excerpt": finding.excerpt}
                for finding in attempt.findings
            ],
            "tests": {"passed": list(graded.passed), "failed": list(graded.failed)},
        },
    )


def _explanation(attempt: AgentAttempt, graded: GradedAttempt) -> str:
    verdict = graded.row.verdict
    reason = verdict.reason.replace("_", " ")
    ending = attempt.ending.replace("_", " ")
    cost = "" if attempt.cost is None else f", ${attempt.cost:.4f}"
    counts = f"{verdict.passed} of {verdict.planned} required tests passed"
    used = (
        f"{attempt.turns} turns, {attempt.tool_calls} tool calls, {attempt.usage.total:,} tokens{cost}, "
        f"{attempt.wall_seconds:.0f} s"
    )
    lines = [
        f"**{verdict.outcome}: {reason}** ({counts}) {_quoted('' if verdict.detail == counts else verdict.detail)}",
        "",
        f"The agent ended: {ending} {_quoted(attempt.ending_detail)}; {used}.",
    ]
    lines += [f"- {note}" for note in _notes(attempt, graded.row)]
    lines += _tests("Failed tests", graded.failed)
    patch = _printable(attempt.submission.patch)
    if patch:
        shown = patch if len(patch) <= _SHOWN_PATCH else f"{patch[:_SHOWN_PATCH]}\n… clipped"
        lines += ["", "Submission:", "", fenced(shown, "diff")]
    return "\n".join(lines + _tests("Passed tests", graded.passed))


def _notes(attempt: AgentAttempt, row: ResultRow) -> list[str]:
    notes = [_quoted(note) for note in row.notes]
    telling = [item for item in attempt.submission.left_out if not _BY_RUNNING.search(item.path)]
    for item in telling[:10]:
        notes.append(f"left out of the submission: {_quoted(item.path)} ({item.why})")
    for finding in attempt.findings:
        where = "" if finding.turn is None else f" in turn {finding.turn}"
        notes.append(f"{finding.kind.replace('_', ' ')}{where}: {_quoted(finding.excerpt)}")
    return notes


def _tests(title: str, tests: Sequence[str]) -> list[str]:
    if not tests:
        return []
    shown = [f"- {_quoted(test)}" for test in tests[:_SHOWN_TESTS]]
    more = [f"- … and {len(tests) - _SHOWN_TESTS} more"] if len(tests) > _SHOWN_TESTS else []
    return ["", f"{title} ({len(tests)}):", "", *shown, *more]


def _quoted(text: str) -> str:
    """Foreign words as code in one line, also where they are no UTF-8."""
    return cell(_printable(text))


def _printable(text: str) -> str:
    """A text as a log can hold it: bytes that are no UTF-8 are shown as such."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def plain_attempt(attempt: AgentAttempt) -> dict[str, Any]:
    """An attempt's line in ``attempts.jsonl``: everything but the patch, which is among the predictions."""
    plain = attempt.to_plain()
    submission = plain.pop("submission")
    return {
        **plain,
        "patch_bytes": len(submission["patch"].encode("utf-8", "surrogateescape")),
        "left_out": submission["left_out"],
        "left_out_more": submission["left_out_more"],
    }
