"""A few problems asked before the rest: whether the model's answers can be read, and what the run will take."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from benchwright.answers.parsing import ParseFailure, parse
from benchwright.answers.reading import answer_of
from benchwright.core.answers import CodeAnswer
from benchwright.core.attempts import Attempt, Ending

SIZE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightSample:
    """One problem asked beforehand."""

    problem_id: str
    prompt: str
    attempt: Attempt
    code: str | None
    """What would be graded, or None."""
    strategy: str
    """The rule that found it, or why nothing was found."""
    readable: bool
    """Whether there is code that parses and defines the entry point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """What asking beforehand has shown."""

    samples: tuple[PreflightSample, ...]
    objection: str | None
    """Why the run should not go on, in one sentence; None when it may."""

    @property
    def readable(self) -> int:
        """How many of the answers can be graded."""
        return sum(sample.readable for sample in self.samples)


def choose(problem_ids: Sequence[str], size: int = SIZE) -> list[str]:
    """The problems to ask beforehand: spread evenly over all of them, the first and the last among them."""
    if len(problem_ids) <= size:
        return list(problem_ids)
    step = (len(problem_ids) - 1) / (size - 1)
    return [problem_ids[round(index * step)] for index in range(size)]


def examine(problem_id: str, prompt: str, attempt: Attempt, entry_point: str) -> PreflightSample:
    """Read the answer of a problem asked beforehand."""
    answer = answer_of(attempt, entry_point=entry_point)
    if isinstance(answer, CodeAnswer):
        return PreflightSample(
            problem_id=problem_id,
            prompt=prompt,
            attempt=attempt,
            code=answer.code,
            strategy="; ".join((answer.strategy, *answer.notes)),
            readable=defines(answer.code, entry_point),
        )
    return PreflightSample(
        problem_id=problem_id,
        prompt=prompt,
        attempt=attempt,
        code=None,
        strategy=f"{answer.reason.value}: {answer.detail}",
        readable=False,
    )


def conclude(samples: Sequence[PreflightSample]) -> Preflight:
    """Whether a run may go on: not when no answer at all can be read."""
    objection = None
    if samples and not any(sample.readable for sample in samples):
        objection = _objection(samples)
    return Preflight(samples=tuple(samples), objection=objection)


def _objection(samples: Sequence[PreflightSample]) -> str:
    count = f"None of the {len(samples)} answers" if len(samples) > 1 else "The one answer"
    endings = {sample.attempt.ending for sample in samples}
    if endings == {Ending.FAILED}:
        return f"The provider gave no reply to any of the {len(samples)} first calls: {samples[0].strategy}"
    if endings == {Ending.TRUNCATED}:
        return (
            f"{count} was complete when the limit of tokens was reached; raise --reply-tokens, or say --no-preflight "
            f"if this model is known to run on."
        )
    if endings == {Ending.OVERFLOWED}:
        return f"{count} came about: the prompts do not fit the model's context."
    return (
        f"{count} holds code that defines the function asked for; see them above: is this the right --mode, and does "
        f"the model follow the prompt?  --no-preflight goes on regardless."
    )


def defines(code: str, name: str) -> bool:
    """Whether code parses and binds a name at its top level."""
    try:
        body = parse(code).body
    except ParseFailure:
        return False
    return any(name in _bound(statement) for statement in body)


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    names = set()
    for node in ast.walk(statement):  # definitions may stand in a branch
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names
