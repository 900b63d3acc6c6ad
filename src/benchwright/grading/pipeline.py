"""One sample's way from attempt to row; pure except for what it is handed."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from benchwright.answers.imports import top_level_imports
from benchwright.answers.plans import read_plan
from benchwright.answers.reading import answer_of
from benchwright.benchmarks.base import Benchmark
from benchwright.core.answers import Answer, CodeAnswer, NoAnswer
from benchwright.core.attempts import Attempt
from benchwright.core.controls import ControlRun, place_of
from benchwright.core.execution import ExecutionRecord, Isolation, Job, Limits, Submission, TestPlan
from benchwright.core.problems import FunctionProblem
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Reason, Verdict
from benchwright.execution.guest import guest_version
from benchwright.execution.schedulers.base import Expectation, ScheduledJob
from benchwright.execution.target import Target, choose_tier
from benchwright.grading.limits import FLOOR_SECONDS, STUB_SECONDS, limits_for, official_limits
from benchwright.judging.function import judge, judge_no_answer, missing_names


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """An attempt under one score: a job to run, or a verdict at once."""

    attempt: Attempt
    score: Score
    answer: Answer
    """What was read out of the attempt for this score."""
    scheduled: ScheduledJob | None
    verdict: Verdict | None


class Pipeline:
    """Prepares jobs and finishes rows for one benchmark, environment and set of limits."""

    def __init__(
        self,
        benchmark: Benchmark,
        target: Target,
        isolation: Isolation,
        controls: Mapping[str, ControlRun],
        *,
        official_limits: bool,
        floor_seconds: float = FLOOR_SECONDS,
        measuring: bool = False,
    ) -> None:
        """Make a pipeline.

        Args:
            benchmark: What is graded.
            target: Where.
            isolation: How strongly answers are kept apart.
            controls: This environment's control runs by problem digest.
            official_limits: Whether limits are those of the official harness.
            floor_seconds: Smallest CPU limit of a problem with a control run.
            measuring: Whether this is a control run, with the widest limits whatever earlier ones took.
        """
        self._benchmark = benchmark
        self._target = target
        self._isolation = isolation
        self._controls = controls
        self._official_limits = official_limits
        self._floor_seconds = floor_seconds
        self._measuring = measuring
        self.place = place_of(target.digest, isolation)
        """What control runs made here are kept under."""
        self._plans: dict[str, TestPlan] = {}
        self._test_modules: dict[str, frozenset[str]] = {}

    def plan(self, problem: FunctionProblem) -> TestPlan:
        """The problem's planned tests; read once."""
        if problem.digest not in self._plans:
            self._plans[problem.digest] = read_plan(problem.test_source)
            self._test_modules[problem.digest] = top_level_imports(problem.test_source)
        return self._plans[problem.digest]

    def prepare(self, problem: FunctionProblem, attempt: Attempt, score: Score) -> Prepared:
        """Read the answer out of an attempt and make its job, or its verdict when there is nothing to run."""
        answer = answer_of(attempt, entry_point=problem.entry_point, as_written=score is Score.AS_WRITTEN)
        if isinstance(answer, NoAnswer):
            verdict = judge_no_answer(answer, self.plan(problem))
            return Prepared(attempt=attempt, score=score, answer=answer, scheduled=None, verdict=verdict)
        submission = self._benchmark.assemble(problem, answer, score)
        scheduled = self.job(problem, submission)
        return Prepared(attempt=attempt, score=score, answer=answer, scheduled=scheduled, verdict=None)

    def job(self, problem: FunctionProblem, submission: Submission) -> ScheduledJob:
        """The job of a submission, with what the control run lets expect."""
        plan = self.plan(problem)
        control = self._controls.get(problem.digest)
        modules = self._test_modules[problem.digest] | top_level_imports(submission.code)
        if submission.stub is not None:
            modules |= top_level_imports(submission.stub + "\n    pass\n")
        job = Job(
            submission=submission,
            plan=plan,
            environment=self._target.digest,
            tier=choose_tier(self._target, modules),
            limits=self.limits(problem),
            guest_version=guest_version(),
            isolation=self._isolation,
        )
        return ScheduledJob(job=job, expectation=_expectation(control))

    def limits(self, problem: FunctionProblem) -> Limits:
        """What an answer to the problem may use here."""
        if self._measuring:
            return official_limits()
        control = self._controls.get(problem.digest)
        return limits_for(control, official=self._official_limits, floor_seconds=self._floor_seconds)

    def finish(self, problem: FunctionProblem, prepared: Prepared, record: ExecutionRecord | None) -> ResultRow:
        """The row of a prepared attempt, from its record if it had a job."""
        if prepared.scheduled is None or record is None:
            assert prepared.verdict is not None
            return _row(prepared, prepared.verdict, None)
        verdict = judge(self.plan(problem), record, self._target.unavailable_modules)
        return _row(prepared, verdict, record)

    def missing(self, problem: FunctionProblem, score: Score) -> ResultRow:
        """The row of a problem without any sample."""
        answer = NoAnswer(reason=Reason.MISSING, detail="the file has no sample for this problem")
        attempt = Attempt(problem_id=problem.id, sample=0, solution=None)
        verdict = judge_no_answer(answer, self.plan(problem))
        prepared = Prepared(attempt=attempt, score=score, answer=answer, scheduled=None, verdict=verdict)
        return _row(prepared, verdict, None)

    def reference(self, problem: FunctionProblem) -> ScheduledJob:
        """The control job of the problem's own solution."""
        return self.job(problem, Submission(code=problem.reference, stub=None, entry_point=problem.entry_point))

    def stub(self, problem: FunctionProblem) -> ScheduledJob:
        """The control job of the stub with an empty body."""
        answer = CodeAnswer(code=problem.calibration_stub, strategy="stub")
        scheduled = self.job(problem, self._benchmark.assemble(problem, answer, Score.EXTRACTED))
        # All that is asked is whether it passes; tests that wait for an empty body to answer need not wait long.
        limits = dataclasses.replace(scheduled.job.limits, wall_seconds=STUB_SECONDS, cpu_seconds=STUB_SECONDS)
        return dataclasses.replace(scheduled, job=dataclasses.replace(scheduled.job, limits=limits))


def _expectation(control: ControlRun | None) -> Expectation | None:
    if control is None:
        return None
    return Expectation(
        wall_seconds=control.wall_seconds,
        cpu_seconds=control.cpu_seconds,
        memory_bytes=control.memory_peak_bytes,
    )


def _row(prepared: Prepared, verdict: Verdict, record: ExecutionRecord | None) -> ResultRow:
    answer = prepared.answer
    return ResultRow(
        problem_id=prepared.attempt.problem_id,
        sample=prepared.attempt.sample,
        score=prepared.score,
        verdict=verdict,
        job_digest=prepared.scheduled.job.digest if prepared.scheduled else None,
        wall_seconds=record.wall_seconds if record else 0.0,
        cpu_seconds=record.cpu_seconds if record else 0.0,
        memory_peak_bytes=record.memory_peak_bytes if record else 0,
        strategy=answer.strategy if isinstance(answer, CodeAnswer) else "",
        notes=answer.notes if isinstance(answer, CodeAnswer) else (),
        missing_names=missing_names(record) if record else (),
    )
