"""A run's answers as a sample file that benchwright and the official tools read."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from benchwright.answers.reading import answer_of
from benchwright.benchmarks.base import ProblemSet
from benchwright.core.answers import CodeAnswer
from benchwright.core.attempts import Attempt, Ending


def write_samples(path: Path, attempts: Iterable[Attempt], problems: ProblemSet, *, join_lead: bool) -> None:
    """Write attempts as JSON lines: ``task_id``, ``solution`` (extracted), ``raw_solution`` (as written), and more.

    With ``join_lead`` the text that a base model was given to complete is part of ``raw_solution``, as the official
    tool writes it; otherwise it is a field of its own.  What a provider gave no reply to is left out: it is nobody's
    answer.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("w", encoding="utf-8", errors="backslashreplace") as file:
        for attempt in attempts:
            if attempt.ending is Ending.FAILED:
                continue
            entry_point = problems.problem(attempt.problem_id).entry_point
            answer = answer_of(attempt, entry_point=entry_point)
            row = {
                "task_id": attempt.problem_id,
                "sample": attempt.sample,
                "solution": answer.code if isinstance(answer, CodeAnswer) else "",
                "raw_solution": (attempt.prefill if join_lead else "") + (attempt.raw_text or ""),
                "lead": "" if join_lead else attempt.prefill,
                "ending": attempt.ending.value,
                "model": attempt.model,
            }
            file.write(json.dumps(row) + "\n")
    temporary.replace(path)
