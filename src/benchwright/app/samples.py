"""Answers as rows of a sample file: of a run, for the official tools too; of a grading, to be graded again."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.answers.reading import answer_of
from benchwright.benchmarks.base import ProblemSet
from benchwright.core.answers import CodeAnswer
from benchwright.core.attempts import Attempt
from benchwright.core.digest import digest_of
from benchwright.store.folder import SAMPLES

PREDICTIONS = "preds.json"
"""What a grading of patches calls the patches."""


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


def answers_in(folder: Path) -> dict[tuple[str, int], str]:
    """Digest of each answer that a results folder keeps, by problem and sample; empty where it keeps none.

    For telling whether two gradings had the same answers; lines that say nothing are left out.
    """
    found: dict[tuple[str, int], str] = {}
    if (folder / SAMPLES).exists():
        for row in _objects((folder / SAMPLES).read_bytes().splitlines()):
            answer = [row.get(name) for name in ("solution", "raw_solution", "lead", "ending", "unreadable")]
            found[str(row.get("task_id")), row.get("sample", 0)] = digest_of(answer)
    elif (folder / PREDICTIONS).exists():
        for entry in _objects([(folder / PREDICTIONS).read_bytes()]):
            for problem, patch in entry.items():
                found[problem, 0] = digest_of(patch.get("model_patch") if isinstance(patch, dict) else patch)
    return found


def _objects(texts: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for text in texts:
        with contextlib.suppress(ValueError, RecursionError):
            document = json.loads(text)
            if isinstance(document, dict):
                yield document
