"""Grading inside a run: the pipeline of ``bw grade``, fed with one attempt at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio

from benchwright.core.attempts import Attempt
from benchwright.core.execution import ExecutionRecord
from benchwright.core.problems import FunctionProblem
from benchwright.core.runs import ResultRow, Score
from benchwright.execution.schedulers.base import ScheduledJob
from benchwright.grading.pipeline import Pipeline, Prepared
from benchwright.grading.service import GradingService

ALL_SCORES = (Score.AS_WRITTEN, Score.EXTRACTED, Score.CALIBRATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """An attempt under one score, judged, with what it was judged by."""

    prepared: Prepared
    row: ResultRow
    record: ExecutionRecord | None
    """None when there was nothing to run."""


class Grader:
    """Grades attempts as they come; the service it is given must be running."""

    def __init__(
        self,
        pipeline: Pipeline,
        service: GradingService,
        scores: Sequence[Score] = ALL_SCORES,
        *,
        on_graded: Callable[[], None] = lambda: None,
        on_error: Callable[[Exception], None] = lambda error: None,
    ) -> None:
        """Make a grader.

        Args:
            pipeline: Prepares and finishes, as for ``bw grade``.
            service: Executes.
            scores: What is graded of every attempt.
            on_graded: Called after every attempt.
            on_error: Called when an attempt cannot be graded, before the error is raised: the machine stands in the
                way, or there is a bug.  Neither is a reason to go on asking.
        """
        self._pipeline = pipeline
        self._service = service
        self._on_graded = on_graded
        self._on_error = on_error
        self.scores = tuple(scores)

    async def grade(self, problem: FunctionProblem, attempt: Attempt) -> list[Graded]:
        """One result per score, in their order; all of them are executed side by side where there is room."""
        try:
            graded = await self._grade(problem, attempt)
        except Exception as error:
            error.add_note(f"while grading sample {attempt.sample} of {problem.id}")
            self._on_error(error)
            raise
        self._on_graded()
        return graded

    async def _grade(self, problem: FunctionProblem, attempt: Attempt) -> list[Graded]:
        prepared = [self._pipeline.prepare(problem, attempt, score) for score in self.scores]
        records = await self._records([item.scheduled for item in prepared])
        return [
            Graded(prepared=item, row=self._pipeline.finish(problem, item, record), record=record)
            for item, record in zip(prepared, records, strict=True)
        ]

    async def _records(self, jobs: Sequence[ScheduledJob | None]) -> list[ExecutionRecord | None]:
        """The records of jobs, which are handed over all at once."""
        records: list[ExecutionRecord | None] = [None] * len(jobs)
        errors: list[Exception] = []

        async def execute(place: int, job: ScheduledJob) -> None:
            try:
                records[place] = await self._service.execute(job)
            except Exception as error:  # noqa: BLE001 - raised below, as itself and not in a group
                errors.append(error)

        async with anyio.create_task_group() as group:
            for place, job in enumerate(jobs):
                if job is not None:
                    group.start_soon(execute, place, job)
        if errors:
            raise errors[0]
        return records
