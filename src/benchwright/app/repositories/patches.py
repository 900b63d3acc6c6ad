"""Patches on their way from attempts to rows: run what has no record, control what is doubtful, judge."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchwright.app.repositories.controls import run_controls, stored_control
from benchwright.core.attempts import Attempt
from benchwright.core.repositories import (
    TESTS_STEP,
    RepositoryControls,
    RepositoryJob,
    RepositoryProblem,
    RepositoryRecord,
)
from benchwright.core.runs import ResultRow
from benchwright.core.verdicts import Outcome, Reason
from benchwright.grading.repositories import PreparedPatch, RepositoryPipeline, row_of, run_in_threads
from benchwright.judging.repository import judge_unavailable
from benchwright.store.records import RecordStore

_SETTLED = frozenset({Reason.EMPTY, Reason.NOT_A_PATCH, Reason.MISSING})
"""Reasons that no control run can tell anything about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchProgress:
    """How far a grading is."""

    done: int
    total: int
    what: str
    """``patches`` or ``controls``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedPatch:
    """A patch, judged."""

    problem: RepositoryProblem
    row: ResultRow
    passed: frozenset[str] | None
    """Required tests that passed; None when the tests were not reached."""
    failed: frozenset[str] | None
    """Those that failed."""


class PatchGrading:
    """Grades patches with one pipeline; counts what it executes."""

    def __init__(
        self,
        pipeline: RepositoryPipeline,
        store: RecordStore,
        *,
        unavailable: Mapping[str, str],
        workers: int,
        report: Callable[[PatchProgress], None],
    ) -> None:
        """Make a grading.

        Args:
            pipeline: Prepares, runs and judges.
            store: Where records and control runs are, and go.
            unavailable: Why an instance cannot be run here, by id.
            workers: How many patches are run at once.
            report: Told after every run.
        """
        self.executed = 0
        self.reused = 0
        self._pipeline = pipeline
        self._store = store
        self._unavailable = unavailable
        self._workers = workers
        self._report = report
        self._controls: dict[str, RepositoryControls] = {}
        self._lost: dict[str, RepositoryRecord] = {}

    def grade(self, attempts: Sequence[tuple[RepositoryProblem, Attempt]], *, control: bool) -> list[GradedPatch]:
        """Grade attempts, in their order.

        Args:
            attempts: Each with the row that it is judged by.
            control: Whether to make the control runs that tell whose fault it is when a patch resolved nothing.
        """
        for problem, _ in attempts:
            self._load_control(problem)
        prepared = [self._prepare(problem, attempt) for problem, attempt in attempts]
        self._run(item.job for item in prepared)
        if control:
            self._control(prepared)
            # Control runs may have shown that an instance's tests need another day.
            prepared = [self._prepare(item.problem, item.attempt) for item in prepared]
            self._run(item.job for item in prepared)
        return [self._judged(item) for item in prepared]

    def controlled(self, problem: RepositoryProblem) -> bool:
        """Whether there are control runs of an instance in its environment here."""
        self._load_control(problem)
        return problem.digest in self._controls

    def _load_control(self, problem: RepositoryProblem) -> None:
        if problem.digest not in self._controls and self._pipeline.runs(problem):
            found = stored_control(problem, self._pipeline, self._store)
            if found is not None:
                self._controls[problem.digest] = found

    def _prepare(self, problem: RepositoryProblem, attempt: Attempt) -> PreparedPatch:
        why = self._unavailable.get(problem.id)
        if why is not None:
            verdict = judge_unavailable(problem, why)
            return PreparedPatch(problem=problem, attempt=attempt, job=None, answer=None, verdict=verdict)
        control = self._controls.get(problem.digest)
        return self._pipeline.prepare(problem, attempt, date=control.date if control else "")

    def _run(self, jobs: Iterable[RepositoryJob | None]) -> None:
        """See to it that every job has a record."""
        distinct = {job.digest: job for job in jobs if job is not None and job.digest not in self._lost}
        known = self._store.known_repository(distinct)
        waiting = [job for digest, job in distinct.items() if digest not in known]
        if not self.executed:
            self.reused = len(known)
        self._report(PatchProgress(done=len(known), total=len(distinct), what="patches"))
        pairs = run_in_threads(waiting, self._pipeline.run, self._workers, stop=self._pipeline.stop)
        for done, (job, record) in enumerate(pairs, len(known) + 1):
            self.executed += 1
            if record.lost_reason:
                self._lost[job.digest] = record
            else:
                self._store.put_repository(record)
            self._report(PatchProgress(done=done, total=len(distinct), what="patches"))

    def _record(self, job: RepositoryJob) -> RepositoryRecord:
        record = self._lost.get(job.digest) or self._store.get_repository(job.digest)
        assert record is not None, f"job {job.digest} has no record after the run"
        return record

    def _control(self, prepared: Sequence[PreparedPatch]) -> None:
        doubtful: dict[str, RepositoryProblem] = {}
        for item in prepared:
            if item.job is None or item.problem.digest in self._controls:
                continue
            verdict = self._judged(item).row.verdict
            passed = verdict.outcome is Outcome.PASSED
            if passed:
                doubt = self._pipeline.rests_on_controls(item.problem, self._record(item.job))
            else:
                doubt = verdict.reason not in _SETTLED
            if doubt:
                doubtful[item.problem.digest] = item.problem
        made = run_controls(
            list(doubtful.values()),
            self._pipeline,
            self._store,
            workers=self._workers,
            repeats=1,
            report=lambda done, total: self._report(PatchProgress(done=done, total=total, what="controls")),
        )
        self._controls |= {control.problem_digest: control for control in made}

    def _judged(self, item: PreparedPatch) -> GradedPatch:
        problem = item.problem
        if item.job is None:
            assert item.verdict is not None, "without a job there is a verdict at once"
            return GradedPatch(problem=problem, row=row_of(item, item.verdict, None), passed=None, failed=None)
        record = self._record(item.job)
        control = self._controls.get(problem.digest)
        row = row_of(item, self._pipeline.judge(problem, record, control), record)
        if record.step(TESTS_STEP) is None:
            return GradedPatch(problem=problem, row=row, passed=None, failed=None)
        passed, failed = self._pipeline.tests(problem, record, control)
        return GradedPatch(problem=problem, row=row, passed=passed, failed=failed)
