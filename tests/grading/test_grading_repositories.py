"""The pure parts of grading patches: what is sabotaged, how jobs are run at once, and what a row says."""

import dataclasses
import threading
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from benchwright.answers.patches import PatchAnswer, read_patch
from benchwright.benchmarks.swebench.rows import to_problem
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.errors import MachineError, SandboxFault
from benchwright.core.execution import ExitCause
from benchwright.core.repositories import (
    Edit,
    RepositoryJob,
    RepositoryLimits,
    RepositoryProblem,
    RepositoryRecord,
    Rules,
    Step,
)
from benchwright.core.runs import Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.execution.repositories import HiddenFile, Place
from benchwright.grading import repositories as grading
from benchwright.grading.repositories import (
    PreparedPatch,
    RepositoryPipeline,
    Setup,
    graded_files,
    row_of,
    run_in_threads,
    sabotaged_files,
    to_sabotage,
)
from benchwright.sandboxes.base import Image
from benchwright.sandboxes.namespace import NamespaceSandbox

PATCH = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
TEST_PATCH = PATCH.replace("/x", "/tests/test_x.py")


def problem(fail_to_pass: Iterable[str] = ("t.py::f",), pass_to_pass: Iterable[str] = ()) -> RepositoryProblem:
    """A row with these lists."""
    row = {
        "instance_id": "o__n-1",
        "repo": "o/n",
        "version": "1",
        "base_commit": "a" * 40,
        "problem_statement": "x",
        "patch": PATCH,
        "test_patch": TEST_PATCH,
        "FAIL_TO_PASS": list(fail_to_pass),
        "PASS_TO_PASS": list(pass_to_pass),
    }
    return to_problem(row, benchmark="b")


def ended_step(wall_seconds: float = 0.1, **changes: Any) -> Step:
    """The step of the test command."""
    values: dict[str, Any] = {
        "name": "tests",
        "exit_cause": ExitCause.FINISHED,
        "exit_status": 0,
        "wall_seconds": wall_seconds,
        "cpu_seconds": 2.0,
        "memory_peak_bytes": 5,
        "output": "",
        "output_total_bytes": 0,
    }
    return Step(**{**values, **changes})


def record(*steps: Step, **changes: Any) -> RepositoryRecord:
    """A record with these steps."""
    values: dict[str, Any] = {"job_digest": "j", "patch_applied": True, "steps": steps, "wall_seconds": 3.0}
    return RepositoryRecord(**{**values, **changes})


# What is sabotaged

MANY = tuple(f"t.py::p{number}" for number in range(200))


def test_few_tests_are_all_sabotaged() -> None:
    """Every required one, each once."""
    row = problem(("t.py::f", "t.py::g"), ("t.py::g", "t.py::p"))
    assert to_sabotage(row, record(ended_step())) == ("t.py::f", "t.py::g", "t.py::p")


def test_of_many_quick_tests_some_are_chosen_unforeseeably() -> None:
    """All of FAIL_TO_PASS, and a choice of the others that differs from run to run."""
    row = problem(("t.py::f",), MANY)
    chosen = [to_sabotage(row, record(ended_step())) for _ in range(5)]
    for one in chosen:
        assert one[0] == "t.py::f"
        assert set(one[1:]) < set(MANY)
        assert len(set(one)) == len(one)
    assert len(set(chosen)) == 5, "five equal choices of 20 out of 200 do not happen"


def test_many_slow_tests_are_all_sabotaged() -> None:
    """A test that fails at its first statement takes no time."""
    row = problem(("t.py::f",), MANY)
    assert to_sabotage(row, record(ended_step(wall_seconds=1000.0))) == ("t.py::f", *MANY)


TEST_SOURCE = b"def test_a():\n    assert True\n\n\ndef test_b():\n    assert True\n"


def test_sabotaged_files_fail_in_the_chosen_tests_alone() -> None:
    """The others run as they did."""
    files, sabotaged = sabotaged_files([HiddenFile(path="t.py", data=TEST_SOURCE)], ["t.py::test_a"], "pytest")
    assert sabotaged == {"t.py::test_a"}
    assert files[0].data is not None
    namespace: dict[str, Any] = {}
    exec(files[0].data.decode(), namespace)
    with pytest.raises(BaseException):  # noqa: B017 - of whichever kind the sabotage raises
        namespace["test_a"]()
    namespace["test_b"]()


@pytest.mark.parametrize(
    "file",
    [
        HiddenFile(path="gone.py", data=None),
        HiddenFile(path="data.txt", data=TEST_SOURCE),
        HiddenFile(path="t.py", data=b"# caf\xe9\n" + TEST_SOURCE),
        HiddenFile(path="t.py", data=b"def broken(:\n"),
    ],
    ids=["removed", "no program", "not UTF-8", "not Python"],
)
def test_what_cannot_be_sabotaged_stays_as_it_is(file: HiddenFile) -> None:
    """A twin without it shows nothing, but it breaks nothing, either."""
    assert sabotaged_files([file], [f"{file.path}::test_a"], "pytest") == ((file,), frozenset())


def test_modes_of_sabotaged_files_stay() -> None:
    """Only their text changes."""
    files, _ = sabotaged_files([HiddenFile(path="t.py", data=TEST_SOURCE, mode=0o755)], ["t.py::test_a"], "pytest")
    assert files[0].mode == 0o755


def test_which_files_are_graded() -> None:
    """Those that the test patch touches, and those that hold required tests."""
    row = problem(("other/test_y.py::f[a::b]",), ("test_m (pkg.Class)",))
    assert graded_files(row) == {"tests/test_x.py", "other/test_y.py"}


# Preparing


def setup() -> Setup:
    """A setup whose environment is only named."""
    return Setup(
        place=Place(sandbox=NamespaceSandbox(), image=Image(digest="environment")),
        parser="pytest",
        runner="pytest",
        tests="pytest",
        install="true",
        needs_install=lambda paths: False,
        environ={},
        project_modules=frozenset(),
        official_script="",
    )


def pipeline(rules: Rules = Rules.BENCHWRIGHT, limits: RepositoryLimits | None = None) -> RepositoryPipeline:
    """A pipeline for one instance."""
    return RepositoryPipeline({"o__n-1": setup()}, rules=rules, limits=limits or RepositoryLimits())


def attempt(text: str | None, **changes: Any) -> Attempt:
    """An attempt with this patch."""
    values: dict[str, Any] = {"problem_id": "o__n-1", "sample": 0, "solution": None, "raw_text": text}
    return Attempt(**{**values, **changes})


@pytest.mark.parametrize(
    ("given", "outcome", "reason"),
    [
        (attempt(None), Outcome.NO_ANSWER, Reason.EMPTY),
        (attempt(" \n"), Outcome.NO_ANSWER, Reason.EMPTY),
        (attempt("Done!"), Outcome.UNUSABLE, Reason.NOT_A_PATCH),
        (attempt(None, unreadable="too_large: 9 GB"), Outcome.UNUSABLE, Reason.TOO_LARGE),
        (attempt(None, ending=Ending.FAILED, ending_detail="overloaded"), Outcome.FAULT, Reason.PROVIDER_ERROR),
        (attempt(PATCH.replace("/x", "/../x")), Outcome.UNUSABLE, Reason.PATCH_REJECTED),
    ],
)
def test_an_attempt_without_a_patch_to_run(given: Attempt, outcome: Outcome, reason: Reason) -> None:
    """It has its verdict at once."""
    prepared = pipeline().prepare(problem(), given)
    assert prepared.job is None
    assert prepared.verdict is not None
    assert (prepared.verdict.outcome, prepared.verdict.reason) == (outcome, reason)


def test_an_attempt_with_a_patch_becomes_a_job() -> None:
    """Of the patch as it was handed in, in the built environment, under the pipeline's rules and limits."""
    prepared = pipeline().prepare(problem(), attempt(f"Here it is:\n```diff\n{PATCH}```\n"))
    assert prepared.verdict is None
    assert prepared.job is not None
    assert prepared.job.patch.startswith("Here it is")
    assert (prepared.job.environment, prepared.job.sandbox) == (setup().environment, "namespace")
    assert prepared.job.rules is Rules.BENCHWRIGHT


@pytest.mark.parametrize("change", [{"spec_digest": "another"}, {"tests": "pytest -x"}])
def test_another_specification_is_another_environment(change: dict[str, Any]) -> None:
    """Records and control runs of one are not taken for those of the other."""
    assert dataclasses.replace(setup(), **change).environment != setup().environment


def test_control_runs_hold_within_their_limits_only() -> None:
    """A reference that ran out of a short time says nothing of a longer one."""
    keys = {pipeline(limits=RepositoryLimits(wall_seconds=seconds)).control_key(problem()) for seconds in (60, 1800)}
    assert len(keys) == 2


def test_official_rules_refuse_nothing() -> None:
    """What leads outside is for the official tools to deal with, in a sandbox."""
    prepared = pipeline(Rules.OFFICIAL).prepare(problem(), attempt(PATCH.replace("/x", "/../x")))
    assert prepared.job is not None
    assert prepared.job.rules is Rules.OFFICIAL


# Running


def jobs(count: int) -> list[RepositoryJob]:
    """Jobs that differ in their patch."""
    return [pipeline().job(problem(), f"{PATCH}{number}") for number in range(count)]


def test_a_sandbox_that_breaks_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to three times; then the record says why there is no evidence."""
    outcomes: Iterator[RepositoryRecord | None] = iter([None, record(ended_step()), *[None] * 3])

    def once(self: RepositoryPipeline, job: RepositoryJob) -> RepositoryRecord:
        found = next(outcomes)
        if found is None:
            raise SandboxFault("it broke")
        return found

    monkeypatch.setattr(RepositoryPipeline, "_run_once", once)
    (job,) = jobs(1)
    assert pipeline().run(job).attempts == 2
    lost = pipeline().run(job)
    assert (lost.attempts, lost.lost_reason, lost.job_digest) == (grading.ATTEMPTS, "it broke", job.digest)


@pytest.mark.parametrize("workers", [1, 3, 50])
def test_all_jobs_are_run_once(workers: int) -> None:
    """However many run at once; never more than there are workers."""
    lock, running, most = threading.Lock(), 0, 0

    def run(job: RepositoryJob) -> RepositoryRecord:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        with lock:
            running -= 1
        return record(job_digest=job.digest)

    asked = jobs(20)
    pairs = list(run_in_threads(asked, run, workers))
    assert sorted(job.digest for job, _ in pairs) == sorted(job.digest for job in asked)
    assert all(job.digest == found.job_digest for job, found in pairs)
    assert most <= workers


def test_nothing_to_run() -> None:
    """Then nothing comes."""
    assert list(run_in_threads([], lambda job: record(), 2)) == []


def test_what_has_not_begun_is_dropped_when_nobody_listens() -> None:
    """A caller that stops leaves only what runs already."""
    begun = []

    def run(job: RepositoryJob) -> RepositoryRecord:
        begun.append(job)
        return record(job_digest=job.digest)

    results = run_in_threads(jobs(20), run, 2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert len(begun) <= 4


def test_what_runs_is_told_to_stop() -> None:
    """An interrupted caller does not wait half an hour for tests whose result nobody wants."""
    told = threading.Event()

    def run(job: RepositoryJob) -> RepositoryRecord:
        if not job.patch.endswith("0") and not told.wait(60):
            raise AssertionError("nobody said so")
        return record(job_digest=job.digest)

    results = run_in_threads(jobs(3), run, 2, stop=told.set)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert told.is_set()


def test_a_stopped_pipeline_runs_nothing() -> None:
    """Neither what waits, nor another attempt, nor a twin."""
    stopped = pipeline()
    stopped.stop()
    with pytest.raises(SandboxFault, match="stopped"):
        stopped.run(jobs(1)[0])


def test_what_is_raised_reaches_the_caller() -> None:
    """It is a machine that stands in the way of everything."""

    def run(job: RepositoryJob) -> RepositoryRecord:
        raise MachineError("the disk is full")

    with pytest.raises(MachineError, match="the disk is full"):
        list(run_in_threads(jobs(3), run, 2))


# Rows

VERDICT = Verdict(
    outcome=Outcome.PASSED,
    reason=Reason.ALL_TESTS_PASSED,
    detail="",
    planned=1,
    passed=1,
    judge_version=1,
    record_digest="r",
)


def test_a_row_of_a_run() -> None:
    """Times and memory are those of all steps; what was done to the patch is noted."""
    answer = read_patch(PATCH.replace("\n", "\r\n"))
    assert isinstance(answer, PatchAnswer)
    (job,) = jobs(1)
    prepared = PreparedPatch(problem=problem(), attempt=attempt(PATCH, sample=4), job=job, answer=answer, verdict=None)
    seen = record(
        ended_step(name="install", memory_peak_bytes=9),
        ended_step(),
        patch_message="counts of the hunks put right",
        dropped=(Edit(path="conftest.py", why="it is new"),),
    )
    row = row_of(prepared, VERDICT, seen)
    assert (row.problem_id, row.sample, row.score, row.job_digest) == ("o__n-1", 4, Score.PATCH, job.digest)
    assert (row.wall_seconds, row.cpu_seconds, row.memory_peak_bytes) == (3.0, 4.0, 9)
    assert row.notes == (*answer.notes, "counts of the hunks put right", "conftest.py not kept: it is new")


def test_a_row_without_a_run() -> None:
    """It took nothing."""
    prepared = PreparedPatch(problem=problem(), attempt=attempt(None), job=None, answer=None, verdict=VERDICT)
    row = row_of(prepared, VERDICT, None)
    assert (row.job_digest, row.wall_seconds, row.cpu_seconds, row.notes) == (None, 0.0, 0, ())


def test_why_a_patch_was_rejected_is_no_note() -> None:
    """It is the verdict's detail already."""
    prepared = PreparedPatch(problem=problem(), attempt=attempt(PATCH), job=None, answer=None, verdict=None)
    assert row_of(prepared, VERDICT, record(patch_applied=False, patch_message="error: x")).notes == ()
