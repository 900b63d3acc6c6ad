"""Control runs from scripted records."""

from dataclasses import replace

import pytest
from grading_pieces import TARGET, make_pipeline, starter

from benchwright.core.controls import ControlRun
from benchwright.core.execution import ExecutionRecord, Job, TestOutcome
from benchwright.core.problems import FunctionProblem
from benchwright.grading.control import run_controls
from benchwright.testing import ScriptedScheduler, finished_record

PROBLEMS = starter(3).problems
PIPELINE = make_pipeline(official_limits=True)


def honest(job: Job) -> ExecutionRecord:
    """References pass, stubs fail."""
    if job.submission.code.rstrip().endswith("pass"):
        return finished_record(job, {job.plan.tests[0].id: TestOutcome.FAILED})
    return finished_record(job, wall_seconds=2.0)


def controls(
    scheduler: ScriptedScheduler, repeats: int = 1, problems: tuple[FunctionProblem, ...] = PROBLEMS
) -> list[ControlRun]:
    """All control runs."""
    return list(run_controls(problems, PIPELINE, TARGET, scheduler, repeats=repeats, report=lambda done, total: None))


def test_every_problem_gets_a_control_run() -> None:
    """The reference's times and both outcomes are in it, under environment and guest version."""
    found = controls(ScriptedScheduler(honest))
    assert [control.problem_id for control in found] == [problem.id for problem in PROBLEMS]
    for control, problem in zip(found, PROBLEMS, strict=True):
        assert control.reference_passes
        assert not control.stub_passes
        assert not control.flaky
        assert control.available
        assert (control.problem_digest, control.environment) == (problem.digest, TARGET.digest)
        assert control.wall_seconds == 2.0


def test_repeats_are_executions_of_their_own() -> None:
    """With three repeats each reference and stub runs three times."""
    scheduler = ScriptedScheduler(honest)
    found = controls(scheduler, repeats=3)
    assert len(scheduler.ran) == 18
    assert len({id(scheduled) for scheduled in scheduler.ran}) == 18
    assert all(len(control.references) == len(control.stubs) == 3 for control in found)


def test_repeats_that_disagree_are_flaky() -> None:
    """A reference that passes sometimes is named as flaky, and does not count as passing."""
    seen: dict[str, int] = {}

    def script(job: Job) -> ExecutionRecord:
        seen[job.digest] = seen.get(job.digest, 0) + 1
        if seen[job.digest] == 2 and job.submission.code == PROBLEMS[0].reference:
            return finished_record(job, {job.plan.tests[0].id: TestOutcome.ERROR})
        return honest(job)

    first, *others = sorted(
        controls(ScriptedScheduler(script), repeats=2), key=lambda c: c.problem_id != PROBLEMS[0].id
    )
    assert first.flaky
    assert not first.reference_passes
    assert not any(control.flaky for control in others)


@pytest.mark.parametrize(
    ("message", "network"),
    [("socket.gaierror: [Errno -3] Temporary failure in name resolution", True), ("AssertionError: 1 != 2", False)],
)
def test_a_reference_that_misses_the_network_says_so(message: str, network: bool) -> None:
    """Failures whose messages speak of a network are told apart from others."""

    def script(job: Job) -> ExecutionRecord:
        record = finished_record(job, {job.plan.tests[0].id: TestOutcome.ERROR})
        plain = record.to_plain()
        plain["tests"][0]["message"] = message
        return ExecutionRecord.from_plain(plain)

    assert {control.needs_network for control in controls(ScriptedScheduler(script))} == {network}


def test_problems_that_share_a_job_share_its_run() -> None:
    """Two problems with the same code and tests are executed once and controlled both."""
    twin = replace(PROBLEMS[0], id="Starter/twin", digest="twin")
    scheduler = ScriptedScheduler(honest)
    found = controls(scheduler, problems=(PROBLEMS[0], twin))
    assert {control.problem_id for control in found} == {PROBLEMS[0].id, "Starter/twin"}
    assert len(scheduler.ran) == 2
