"""The scorer: what Inspect's log and viewer show of a graded attempt."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from inspect_ai.scorer import Score as InspectScore
from inspect_ai.scorer import Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from benchwright.bridge.grader import Graded, Grader
from benchwright.bridge.replies import attempt_of, reply_of
from benchwright.core.answers import CodeAnswer
from benchwright.core.attempts import Attempt
from benchwright.core.execution import ExecutionRecord, TestOutcome
from benchwright.core.problems import FunctionProblem
from benchwright.core.verdicts import Outcome
from benchwright.store.folder import row_to_plain

PROBLEM, LEAD, NOT_ASKED = "problem_id", "lead", "not_asked"
"""Names in a sample's metadata."""
_SHOWN_TESTS = 40


def attempt_in(state: TaskState) -> Attempt:
    """The attempt that a finished sample holds."""
    return attempt_of(
        reply_of(state.output),
        problem_id=state.metadata[PROBLEM],
        sample=state.epoch - 1,
        lead=state.metadata[LEAD],
        model=str(state.model),
    )


def verdicts(problems: Callable[[str], FunctionProblem], grader: Callable[[], Grader]) -> Scorer:
    """A scorer whose value is a number per score: 1 passed, 0 not, NaN (not counted) for a fault.

    Args:
        problems: Gives a problem by its id.
        grader: Gives the grader; asked for when the first answer is there.
    """

    @scorer(metrics={"*": [mean(), stderr()]}, name="verdicts")
    def make() -> Scorer:
        async def score(state: TaskState, target: Target) -> InspectScore:
            reason = state.metadata.get(NOT_ASKED)
            if reason:
                return InspectScore.unscored(reason="not_asked", explanation=f"The model was not asked: {reason}")
            problem = problems(state.metadata[PROBLEM])
            return score_of(await grader().grade(problem, attempt_in(state)))

        return score

    return make()


def score_of(graded: Sequence[Graded]) -> InspectScore:
    """A graded attempt in Inspect's terms: values, the code that was graded, and everything behind the verdicts."""
    answer = graded[-1].prepared.answer
    code = answer.code if isinstance(answer, CodeAnswer) else None
    strategy = answer.strategy if isinstance(answer, CodeAnswer) else None
    notes = list(answer.notes) if isinstance(answer, CodeAnswer) else [answer.detail]
    return InspectScore(
        value={item.row.score.value: _value(item) for item in graded},
        answer=code,
        explanation=_explanation(graded, code, strategy, notes),
        metadata={
            "strategy": strategy,
            "notes": notes,
            "verdicts": {item.row.score.value: row_to_plain(item.row) for item in graded},
            "tests": {item.row.score.value: _tests(item.record) for item in graded},
        },
    )


def _value(item: Graded) -> float:
    verdict = item.row.verdict
    return float(verdict.outcome is Outcome.PASSED) if verdict.scored else math.nan


def _tests(record: ExecutionRecord | None) -> list[dict[str, Any]]:
    if record is None:
        return []
    return [
        {"id": test.id, "outcome": test.outcome.value, "exception": test.exception, "message": test.message}
        for test in record.tests
    ]


def _explanation(graded: Sequence[Graded], code: str | None, strategy: str | None, notes: Sequence[str]) -> str:
    lines = ["| score | verdict | tests | detail |", "|---|---|---|---|"]
    for item in graded:
        verdict = item.row.verdict
        counts = f"{verdict.passed}/{verdict.planned}"
        name = _spaced(item.row.score)
        lines.append(f"| {name} | {verdict.outcome}: {_spaced(verdict.reason)} | {counts} | {cell(verdict.detail)} |")
    lines += ["", f"Extraction: {strategy or 'no code found'}" + "".join(f"; {note}" for note in notes)]
    if code is not None:
        lines += ["", fenced(code)]
    record = graded[-1].record
    failed = [test for test in record.tests if test.outcome is not TestOutcome.PASSED] if record else []
    for test in failed[:_SHOWN_TESTS]:
        lines += [
            "",
            f"**{test.id}**: {test.outcome.value}",
            "",
            *(f"    {line}" for line in test.message.splitlines()),
        ]
    if len(failed) > _SHOWN_TESTS:
        lines += ["", f"… and {len(failed) - _SHOWN_TESTS} more; all are in the score's metadata."]
    return "\n".join(lines)


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def fenced(code: str, language: str = "python") -> str:
    """Code as a block of Markdown, which the viewer shows with its lines; the fence is longer than any inside."""
    longest = max((len(run) for run in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def cell(text: str) -> str:
    """Foreign words as code: the viewer would follow links and load images in them."""
    plain = " ".join(text.split()).replace("`", "'").replace("|", "\\|")
    return f"`{plain}`" if plain else ""
