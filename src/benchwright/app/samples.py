"""Answers as rows of a sample file: of a run, for the official tools too; of a grading, to be graded again."""

import contextlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from benchwright.answers.reading import answer_of
from benchwright.benchmarks.base import ProblemSet
from benchwright.core.answers import CodeAnswer
from benchwright.core.attempts import Attempt
from benchwright.core.digest import digest_of
from benchwright.store.folder import PATCHES, SAMPLES, predictions_of


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


def answers_in(read: Callable[[str], bytes | None]) -> dict[tuple[str, int], str]:
    """Digest of each answer that a grading keeps, by problem and sample; empty where it keeps none.

    For telling whether two gradings had the same answers; lines that say nothing are left out.

    Args:
        read: Gives a file of the grading by its name in the results folder; None where there is none.
    """
    samples = read(SAMPLES)
    if samples is not None:
        return dict(_digests(_answers_of_samples(samples)))
    patches = read(PATCHES)
    return {} if patches is None else dict(_digests(_answers_of_patches(patches, read)))


def same_answers(a: Mapping[tuple[str, int], str], b: Mapping[tuple[str, int], str]) -> bool:
    """Whether two gradings keep the same answers, by `answers_in`; False where one keeps none."""
    return bool(a) and a == b


_Answer = tuple[Any, Any, Any]
"""Problem, sample, and what the answer is."""


def _answers_of_samples(content: bytes) -> Iterator[_Answer]:
    for row in _objects(content.splitlines()):
        answer = [row.get(name) for name in ("solution", "raw_solution", "lead", "ending", "unreadable")]
        yield row.get("task_id"), row.get("sample", 0), answer


def _answers_of_patches(content: bytes, read: Callable[[str], bytes | None]) -> Iterator[_Answer]:
    for entry in _objects([content]):
        for problem, patch in entry.items():
            yield problem, 0, patch.get("model_patch") if isinstance(patch, dict) else patch
    for sample in itertools.count(1):  # of agents that worked several times on an instance
        further = read(predictions_of(sample))
        if further is None:
            return
        for row in _objects(further.splitlines()):
            yield row.get("instance_id"), sample, row.get("model_patch")


def _digests(answers: Iterable[_Answer]) -> Iterator[tuple[tuple[str, int], str]]:
    for problem, sample, answer in answers:
        with contextlib.suppress(ValueError, RecursionError):  # a number that is none
            if isinstance(sample, int):
                yield (str(problem), sample), digest_of(answer)


def _objects(texts: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for text in texts:
        with contextlib.suppress(ValueError, RecursionError):
            document = json.loads(text)
            if isinstance(document, dict):
                yield document
