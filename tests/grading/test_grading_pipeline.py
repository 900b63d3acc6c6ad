"""From attempt to job to row, without executing anything."""

import pytest
from grading_pieces import TARGET, make_attempt, make_control, make_pipeline, starter

from benchwright.core.attempts import Ending
from benchwright.core.execution import Isolation, TestOutcome
from benchwright.core.problems import FunctionProblem
from benchwright.core.runs import Score
from benchwright.core.verdicts import Outcome, Reason
from benchwright.execution.guest import guest_version
from benchwright.testing import finished_record, lost_record

PROBLEMS = starter().problems
PROBLEM = PROBLEMS[0]


def of(slug_import: str) -> FunctionProblem:
    """A problem whose tests or reference import a library."""
    return next(problem for problem in PROBLEMS if slug_import in problem.libraries)


def test_an_attempt_becomes_a_job_per_score() -> None:
    """The calibrated job has the stub in front, the extracted one has none; all else is equal."""
    pipeline = make_pipeline()
    jobs = {}
    for score in (Score.EXTRACTED, Score.CALIBRATED):
        prepared = pipeline.prepare(PROBLEM, make_attempt(PROBLEM), score)
        assert prepared.scheduled is not None
        assert prepared.verdict is None
        jobs[score] = prepared.scheduled.job
    assert jobs[Score.EXTRACTED].submission.stub is None
    assert jobs[Score.CALIBRATED].submission.stub == PROBLEM.calibration_stub
    for job in jobs.values():
        assert job.submission.code == PROBLEM.reference
        assert job.plan == pipeline.plan(PROBLEM)
        assert (job.environment, job.guest_version) == (TARGET.digest, guest_version())
        assert job.isolation is Isolation.NAMESPACE
    assert jobs[Score.EXTRACTED].digest != jobs[Score.CALIBRATED].digest


@pytest.mark.parametrize(
    ("changes", "outcome", "reason"),
    [
        ({"solution": ""}, Outcome.NO_ANSWER, Reason.EMPTY),
        ({"solution": " \n\t"}, Outcome.NO_ANSWER, Reason.EMPTY),
        ({"ending": Ending.TRUNCATED}, Outcome.NO_ANSWER, Reason.TRUNCATED),
        ({"ending": Ending.REFUSED}, Outcome.NO_ANSWER, Reason.REFUSED),
        ({"solution": "x = '\0'"}, Outcome.UNUSABLE, Reason.NOT_TEXT),
        ({"unreadable": "too_large: 50 MB"}, Outcome.UNUSABLE, Reason.TOO_LARGE),
    ],
)
def test_what_cannot_run_has_its_verdict_at_once(changes: dict[str, object], outcome: Outcome, reason: Reason) -> None:
    """An attempt without an answer makes no job, and its row says why."""
    pipeline = make_pipeline()
    prepared = pipeline.prepare(PROBLEM, make_attempt(PROBLEM, **changes), Score.CALIBRATED)  # type: ignore[arg-type]
    assert prepared.scheduled is None
    row = pipeline.finish(PROBLEM, prepared, None)
    assert (row.verdict.outcome, row.verdict.reason, row.job_digest) == (outcome, reason, None)
    assert row.verdict.planned == len(pipeline.plan(PROBLEM).tests)


def test_a_row_is_finished_from_its_record() -> None:
    """The verdict is the judge's, times and job are the record's."""
    pipeline = make_pipeline()
    prepared = pipeline.prepare(PROBLEM, make_attempt(PROBLEM, sample=3), Score.CALIBRATED)
    assert prepared.scheduled is not None
    job = prepared.scheduled.job
    row = pipeline.finish(PROBLEM, prepared, finished_record(job, wall_seconds=7.0))
    assert (row.problem_id, row.sample, row.score) == (PROBLEM.id, 3, Score.CALIBRATED)
    assert (row.verdict.outcome, row.wall_seconds, row.job_digest) == (Outcome.PASSED, 7.0, job.digest)
    failing = finished_record(job, {job.plan.tests[0].id: TestOutcome.FAILED})
    assert pipeline.finish(PROBLEM, prepared, failing).verdict.reason is Reason.ASSERTION
    assert pipeline.finish(PROBLEM, prepared, lost_record(job)).verdict.outcome is Outcome.FAULT


def test_a_missing_problem_has_a_row() -> None:
    """A problem without a sample is scored as not solved, with its reason."""
    row = make_pipeline().missing(PROBLEM, Score.EXTRACTED)
    assert (row.problem_id, row.sample, row.score) == (PROBLEM.id, 0, Score.EXTRACTED)
    assert (row.verdict.outcome, row.verdict.reason) == (Outcome.NO_ANSWER, Reason.MISSING)


def test_limits_and_expectations_come_from_the_control_run() -> None:
    """A controlled problem has measured limits, and the scheduler is told what to expect."""
    control = make_control(PROBLEM, wall=10.0, cpu=8.0, memory=123)
    prepared = make_pipeline({PROBLEM.digest: control}).prepare(PROBLEM, make_attempt(PROBLEM), Score.EXTRACTED)
    assert prepared.scheduled is not None
    assert prepared.scheduled.job.limits.cpu_seconds == 60.0
    expected = prepared.scheduled.expectation
    assert expected is not None
    assert (expected.wall_seconds, expected.cpu_seconds, expected.memory_bytes) == (10.0, 8.0, 123)
    unknown = make_pipeline().prepare(PROBLEM, make_attempt(PROBLEM), Score.EXTRACTED).scheduled
    assert unknown is not None
    assert unknown.expectation is None
    official = make_pipeline({PROBLEM.digest: control}, official_limits=True).reference(PROBLEM)
    assert official.job.limits.wall_seconds == 240.0


@pytest.mark.parametrize("answer", ["import pandas\ndef task_func(): pass\n", "def task_func():\n    import numpy\n"])
def test_the_tier_follows_the_answers_own_imports(answer: str) -> None:
    """An answer may use any library, not only the reference's."""
    plain = next(problem for problem in PROBLEMS if not {"numpy", "pandas", "matplotlib"} & set(problem.libraries))
    pipeline = make_pipeline()
    heavy = pipeline.prepare(plain, make_attempt(plain, answer), Score.EXTRACTED).scheduled
    light = pipeline.prepare(plain, make_attempt(plain, "def task_func(): pass"), Score.EXTRACTED).scheduled
    assert heavy is not None and light is not None
    assert (heavy.job.tier, light.job.tier) == ("frames", "bare")


def test_the_tier_follows_stub_and_tests_too() -> None:
    """What the stub or the tests import is warm as well."""
    problem = of("pandas")
    pipeline = make_pipeline()
    calibrated = pipeline.prepare(problem, make_attempt(problem, "x = 1"), Score.CALIBRATED).scheduled
    assert calibrated is not None
    assert calibrated.job.tier == "frames"


def test_controls_run_reference_and_empty_stub() -> None:
    """The reference runs as it is; the stub is a function with an empty body, and no calibration."""
    pipeline = make_pipeline()
    reference, stub = pipeline.reference(PROBLEM).job.submission, pipeline.stub(PROBLEM).job.submission
    assert (reference.code, reference.stub) == (PROBLEM.reference, None)
    assert (stub.code, stub.stub) == (PROBLEM.calibration_stub, None)
    assert stub.code.rstrip().endswith("pass")


def test_the_reference_as_an_answer_is_the_control_job() -> None:
    """With the same limits, an answer equal to the reference needs no run of its own."""
    pipeline = make_pipeline(official_limits=True)
    prepared = pipeline.prepare(PROBLEM, make_attempt(PROBLEM), Score.EXTRACTED)
    assert prepared.scheduled is not None
    assert prepared.scheduled.job.digest == pipeline.reference(PROBLEM).job.digest
