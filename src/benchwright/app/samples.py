"""Answers as rows of a sample file: of a run, for the official tools too; of a grading, to be graded again."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from benchwright.answers.reading import answer_of
from benchwright.benchmarks.base import ProblemSet
from benchwright.core.answers import CodeAnswer
from benchwright.core.attempts import Attempt


def sample_rows(
    attempts: Iterable[Attempt], problems: ProblemSet, *, variant: str, join_lead: bool
) -> Iterator[dict[str, Any]]:
    """Rows with ``task_id``, ``solution`` (extracted), ``raw_solution`` (as written), and how the reply ended.

    With ``join_lead`` the text that a base model was given to complete is part of ``raw_solution``, as the official
    tool writes it; ``lead`` names it in any case.
    """
    for attempt in attempts:
        entry_point = problems.problem(attempt.problem_id).entry_point
        answer = answer_of(attempt, entry_point=entry_point)
        yield {
            "task_id": attempt.problem_id,
            "sample": attempt.sample,
            "solution": answer.code if isinstance(answer, CodeAnswer) else "",
            "raw_solution": (attempt.prefill if join_lead else "") + (attempt.raw_text or ""),
            "lead": attempt.prefill,
            "lead_in_raw": join_lead and bool(attempt.prefill),
            "ending": attempt.ending.value,
            "ending_detail": attempt.ending_detail,
            "model": attempt.model,
            "variant": variant,
        }


def graded_rows(attempts: Iterable[Attempt], manifest: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Rows that are read back as the very attempts, so that grading them again comes to the same verdicts.

    Nothing is extracted or mended: what was no code, cut or not text stays what it was.
    """
    for attempt in attempts:
        row = {
            "task_id": attempt.problem_id,
            "sample": attempt.sample,
            "solution": attempt.solution,
            "raw_solution": attempt.raw_text,
            "lead": attempt.prefill,
            "ending": attempt.ending.value,
            "ending_detail": attempt.ending_detail,
            "model": manifest["model"],
            "variant": manifest["variant"],
        }
        yield row if attempt.unreadable is None else {**row, "unreadable": attempt.unreadable}
