"""Every rule of the repository judge, on records made by hand; the field cases 11 to 15 among them."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.answers import NoAnswer
from benchwright.core.execution import ExitCause, TestOutcome
from benchwright.core.repositories import (
    WORK,
    ControlSummary,
    Inversion,
    RepositoryControls,
    RepositoryProblem,
    RepositoryRecord,
    SessionReport,
    Step,
    TestReport,
)
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.judging import repository
from benchwright.judging.repository import (
    REPOSITORY_JUDGE_VERSION,
    RequiredTest,
    Source,
    judge,
    judge_control,
    judge_no_patch,
    judge_official,
    judge_unavailable,
    summarise_control,
)

TURNS, KEPT, CUT = "tests/test_a.py::test_new", "tests/test_a.py::test_old", "tests/test_a.py::test_many[a"
REQUIRED = (TURNS, KEPT, CUT)
PROBLEM = RepositoryProblem(
    benchmark="b", id="shop__shop-1", repo="shop/shop", version="1.0", base_commit="0" * 40,
    environment_commit="0" * 40, issue="", hints="", created_at="", reference_patch="", test_patch="",
    fail_to_pass=(TURNS,),
    pass_to_pass=(KEPT, CUT), digest="d" * 64,
)  # fmt: skip
GOOD_LOG = f"PASSED {TURNS}\nPASSED {KEPT}\nPASSED {CUT} b]\nPASSED {CUT} c]\n"
PASSED, FAILED, ERROR = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.ERROR
SKIPPED, EXPECTED, UNEXPECTED = TestOutcome.SKIPPED, TestOutcome.EXPECTED_FAILURE, TestOutcome.UNEXPECTED_SUCCESS


def report(test: str, outcome: TestOutcome = PASSED, *, session: int = 0, name: str = "") -> TestReport:
    """What the witness said of one test; ``name`` is a second spelling."""
    names = (test, name) if name else (test,)
    return TestReport(
        session=session, id=test, names=names, outcome=outcome, detail="boom" if outcome is FAILED else ""
    )


REPORTS = (report(TURNS), report(KEPT), report(f"{CUT} b]", name=CUT), report(f"{CUT} c]", name=CUT))


def session(**changes: Any) -> SessionReport:
    """The graded run's session, closed and in order."""
    values: dict[str, Any] = {
        "session": 0, "runner": "pytest", "version": "7.4", "root": WORK, "closed": True, "exit_status": 0, "tests": 4
    }  # fmt: skip
    return SessionReport(**(values | changes))


def step(log: str = GOOD_LOG, **changes: Any) -> Step:
    """The test command."""
    values: dict[str, Any] = {
        "name": "tests", "exit_cause": ExitCause.FINISHED, "exit_status": 0, "wall_seconds": 3.0, "cpu_seconds": 2.0,
        "memory_peak_bytes": 1000, "output": log, "output_total_bytes": len(log),
    }  # fmt: skip
    return Step(**(values | changes))


def exited(log: str = GOOD_LOG, status: int = 1, **changes: Any) -> tuple[Step, ...]:
    """The test command, ended with another status than 0."""
    return (step(log, **({"exit_cause": ExitCause.EXITED, "exit_status": status} | changes)),)


def record(**changes: Any) -> RepositoryRecord:
    """A record of a run in which everything passed, with changes."""
    values: dict[str, Any] = {
        "job_digest": "j" * 64, "patch_applied": True, "steps": (step(),), "sessions": (session(),),
        "reports": REPORTS,
    }  # fmt: skip
    return RepositoryRecord(**(values | changes))


def reported(test: str, outcome: TestOutcome) -> tuple[TestReport, ...]:
    """All reports, one with another outcome."""
    return tuple(replace(old, outcome=outcome, detail="boom") if old.id == test else old for old in REPORTS)


def failing(test: str, outcome: TestOutcome = FAILED) -> dict[str, Any]:
    """An honest run in which one test does not pass: log, witness and status agree."""
    log = GOOD_LOG.replace(f"PASSED {test}", f"FAILED {test}")
    return {"steps": exited(log), "reports": reported(test, outcome), "sessions": (session(exit_status=1),)}


def control(resolved: bool = True, **changes: Any) -> ControlSummary:
    """A control run's summary."""
    values: dict[str, Any] = {
        "resolved": resolved, "reason": "all_tests_passed" if resolved else "tests_failed", "detail": "as it was",
        "exit_cause": ExitCause.FINISHED, "exit_status": 0, "not_passed": (), "accepted": (), "unreported": (),
        "inverted": (), "wall_seconds": 3.0, "cpu_seconds": 2.0, "memory_peak_bytes": 1000,
    }  # fmt: skip
    return ControlSummary(**(values | changes))


def controls(*reference: ControlSummary, empty: tuple[ControlSummary, ...] = ()) -> RepositoryControls:
    """Control runs of the instance."""
    return RepositoryControls(
        problem_id=PROBLEM.id, problem_digest=PROBLEM.digest, environment="e", sandbox="namespace", harness_version=1,
        reference=reference, empty=empty,
    )  # fmt: skip


SOUND = controls(control(), empty=(control(resolved=False, not_passed=(TURNS,), exit_status=1),))
NO_WITNESS = controls(control(unreported=tuple(sorted(REQUIRED))))


def verdict_of(changes: dict[str, Any], known: RepositoryControls | None = SOUND, form: str = "pytest") -> Verdict:
    """The verdict of a changed record."""
    return judge(PROBLEM, record(**changes), parser=form, controls=known)


def inversion(*passed: str) -> Inversion:
    """The sabotaged twin, in which some tests passed all the same."""
    return Inversion(sabotaged=REQUIRED, passed=passed, exit_cause=ExitCause.EXITED, wall_seconds=3.0)


UNWITNESSED = {"sessions": (), "reports": ()}
NOT_RUN, TESTS_FAILED, TAMPERED = Reason.TESTS_NOT_RUN, Reason.TESTS_FAILED, Reason.TAMPERED
# Name, changes to the record, controls, reason, words of the detail.
CASES: list[tuple[str, dict[str, Any], RepositoryControls | None, Reason, str]] = [
    ("everything passed", {}, SOUND, Reason.ALL_TESTS_PASSED, "3 of 3 required tests passed"),
    ("without controls", {}, None, Reason.ALL_TESTS_PASSED, "3 of 3"),
    ("sabotage was noticed", {"inversion": inversion()}, SOUND, Reason.ALL_TESTS_PASSED, "3 of 3"),
    ("lost", {"lost_reason": "disk full", "patch_applied": False}, SOUND, Reason.SANDBOX_LOST, "disk full"),
    ("a step lost", {"steps": (step(exit_cause=ExitCause.LOST),)}, None, Reason.SANDBOX_LOST, "lost"),
    (
        "a step lost that the reference ends",
        {"steps": (step(exit_cause=ExitCause.LOST),)},
        SOUND, Reason.CRASHED, "broke its sandbox",
    ),
    (
        "rejected",
        {"patch_applied": False, "patch_message": "the hunk at line 3 of a.py does not fit", "steps": ()},
        SOUND, Reason.PATCH_REJECTED, "line 3 of a.py",
    ),
    ("a test to turn failed", failing(TURNS), SOUND, TESTS_FAILED, "1 of 1 tests .*test_new .failed: boom"),
    ("a test to turn errs", failing(TURNS, ERROR), SOUND, TESTS_FAILED, "error: boom"),
    ("a regression", failing(KEPT), SOUND, Reason.REGRESSION, "1 of 2 .*test_old"),
    ("one of the tests behind a cut id", failing(f"{CUT} c]"), SOUND, Reason.REGRESSION, r"test_many\[a"),
    ("an unrelated failure", {"steps": exited(GOOD_LOG + "FAILED tests/test_a.py::test_other - x\n"),
     "reports": (*REPORTS, report("tests/test_a.py::test_other", FAILED)), "sessions": (session(exit_status=1),)},
     SOUND, Reason.ALL_TESTS_PASSED, "3 of 3"),
    ("the log is silent", {"steps": (step("noise"),)}, SOUND, Reason.ALL_TESTS_PASSED, "3 of 3"),
    ("skipped", {"reports": reported(TURNS, SKIPPED)}, SOUND, TESTS_FAILED, "skipped"),
    ("fails as expected", {"reports": reported(TURNS, EXPECTED)}, SOUND, TESTS_FAILED, "expected failure"),
    ("passes unexpectedly", {"reports": reported(TURNS, UNEXPECTED)}, SOUND, TESTS_FAILED, "unexpected success"),
    ("a skip as with the reference", {"reports": reported(KEPT, SKIPPED)}, controls(control(accepted=(KEPT,))),
     Reason.ALL_TESTS_PASSED, "3 of 3"),
    ("an expected failure without controls", {"reports": reported(KEPT, EXPECTED)}, None, Reason.ALL_TESTS_PASSED, ""),
    ("a skip without controls", {"reports": reported(KEPT, SKIPPED)}, None, Reason.REGRESSION, "skipped"),
    ("the log alone says failed", {"steps": exited(GOOD_LOG + f"FAILED {TURNS} - x\n")}, SOUND, TESTS_FAILED,
     "the log lists it"),
    # Contradictions.
    ("the log alone says passed", {**failing(TURNS), "steps": exited()}, SOUND, TAMPERED,
     "reported as failed.*test_new"),
    ("status 0 despite a failure", {**failing(TURNS), "steps": (step(f"FAILED {TURNS} - x"),)}, SOUND, TAMPERED,
     "status 0"),
    ("status 0 is usual here", {**failing(TURNS), "steps": (step(f"FAILED {TURNS} - x"),)},
     controls(control(), empty=(control(resolved=False, not_passed=(TURNS,)),)), TESTS_FAILED, "test_new"),
    ("a teardown in error", {"steps": exited(GOOD_LOG + f"ERROR {KEPT} - x\n"), "reports": reported(KEPT, ERROR)},
     SOUND, Reason.REGRESSION, "test_old .error"),
    ("sabotage went unnoticed", {"inversion": inversion(TURNS)}, SOUND, TAMPERED, "must fail.*test_new"),
    ("sabotage does not reach it", {"inversion": inversion(TURNS)}, controls(control(inverted=(KEPT,))),
     Reason.ALL_TESTS_PASSED, "3 of 3"),
    ("noise on the report channel", {"report_errors": ("not JSON",)}, SOUND, TAMPERED, "not JSON"),
    ("noise on the channel of a failed run", {**failing(TURNS), "report_errors": ("x",)}, SOUND, TESTS_FAILED, ""),
    ("no report of a test", {"reports": REPORTS[1:]}, SOUND, TAMPERED, "only the log.*test_new"),
    ("no report of a test, and no controls", {"reports": REPORTS[1:]}, None, TAMPERED, "control runs tell"),
    ("no report of it with the reference either", {"reports": REPORTS[1:]}, controls(control(unreported=(TURNS,))),
     Reason.ALL_TESTS_PASSED, "3 of 3"),
    ("no report of one, another failed", {**failing(KEPT), "reports": reported(KEPT, FAILED)[1:]}, SOUND, TESTS_FAILED,
     "only the log"),
    ("a session elsewhere", {"sessions": (session(root="/tmp/inner"),)}, SOUND, TAMPERED, "only the log"),
    # Witness absent.
    ("the log alone", UNWITNESSED, NO_WITNESS, Reason.ALL_TESTS_PASSED, "log only"),
    ("the log alone, and no controls", UNWITNESSED, None, Reason.ALL_TESTS_PASSED, "log only"),
    ("the witness is gone", UNWITNESSED, SOUND, TAMPERED, "reported none"),
    ("the log alone says failed both ways",
     {**UNWITNESSED, "steps": exited(GOOD_LOG + f"FAILED {TURNS} - x\n" + GOOD_LOG)}, NO_WITNESS, TESTS_FAILED,
     "test_new"),
    ("the log alone, usage error", {**UNWITNESSED, "steps": exited("", 4)}, NO_WITNESS, NOT_RUN, "wrong usage"),
    # Limits and endings.
    ("out of time", {"steps": exited(exit_cause=ExitCause.WALL_TIME, status=-9)}, SOUND, Reason.WALL_TIME, "wall time"),
    ("out of memory", {"steps": exited(exit_cause=ExitCause.MEMORY, status=-9)}, SOUND, Reason.MEMORY, "3 of 3"),
    ("too much output", {"steps": exited(exit_cause=ExitCause.OUTPUT, status=-9)}, SOUND, Reason.OUTPUT, "output"),
    ("out of time while installing", {"steps": exited(name="install", exit_cause=ExitCause.WALL_TIME)}, SOUND,
     Reason.WALL_TIME, "install command.*not reached"),
    ("installing failed", {"steps": exited(name="install"), **UNWITNESSED}, SOUND, NOT_RUN,
     "install command.*status 1"),
    ("nothing was reached", {"steps": (), **UNWITNESSED}, SOUND, NOT_RUN, "not reached"),
    ("a crash", {"steps": exited(exit_cause=ExitCause.SIGNAL, status=-11)}, SOUND, Reason.CRASHED, "signal 11"),
    ("a crash below a shell", {"steps": exited(status=139)}, SOUND, Reason.CRASHED, "signal 11"),
    ("a crash as with the reference", {"steps": exited(status=139)},
     controls(control(exit_cause=ExitCause.EXITED, exit_status=139)), Reason.ALL_TESTS_PASSED, ""),
    ("the session did not end", {"sessions": (session(closed=False),)}, SOUND, NOT_RUN, "not over"),
    ("collection failed", {"steps": exited("ERROR tests/test_a.py - x", 2), "reports": (),
     "sessions": (session(exit_status=2),)}, SOUND, NOT_RUN, "interrupted"),
    ("no test was seen", {"steps": exited("nothing"), "reports": (), "sessions": (session(exit_status=1),)}, SOUND,
     NOT_RUN, "none of 3"),
    ("one test was not seen", {"steps": exited(f"PASSED {KEPT}\nPASSED {CUT}"), "reports": REPORTS[1:],
     "sessions": (session(exit_status=1),)}, SOUND, TESTS_FAILED, "not seen"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "known", "reason", "words"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_each_rule(changes: dict[str, Any], known: RepositoryControls | None, reason: Reason, words: str) -> None:
    """Reason and detail are those of the table, and the outcome is the reason's."""
    verdict = verdict_of(changes, known)
    assert verdict.reason is reason, verdict.detail
    assert re.search(words, verdict.detail), verdict.detail
    assert verdict.planned == 3
    assert verdict.judge_version == REPOSITORY_JUDGE_VERSION
    assert (verdict.outcome is Outcome.PASSED) == (verdict.reason is Reason.ALL_TESTS_PASSED)
    assert (verdict.outcome is Outcome.FAULT) == (reason is Reason.SANDBOX_LOST)
    assert (verdict.outcome is Outcome.OVER_LIMIT) == (reason in (Reason.WALL_TIME, Reason.MEMORY, Reason.OUTPUT))
    assert (verdict.outcome is Outcome.UNUSABLE) == (reason is Reason.PATCH_REJECTED)


def test_passed_tests_are_counted() -> None:
    """The counts speak of required tests, also where others ran."""
    verdict = verdict_of(failing(KEPT))
    assert (verdict.passed, verdict.planned) == (2, 3)


# Case 11 of the field report: forged logs.

FORGED = f">>>>> Start Test Output\n{GOOD_LOG}>>>>> End Test Output\nexit status: 0\n"
REAL = f"FAILED {TURNS} - AssertionError: 3 != 4\nPASSED {KEPT}\nPASSED {CUT}\n"


@pytest.mark.parametrize(
    "log", [FORGED + REAL, FORGED, REAL + FORGED, FORGED + REAL + FORGED], ids=["before", "instead", "after", "both"]
)
def test_a_forged_log_is_tampering(log: str) -> None:
    """Pass lines for a test that the witness saw failing do not resolve anything, wherever they stand."""
    verdict = verdict_of({**failing(TURNS), "steps": exited(log)})
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, TAMPERED)


def test_a_forged_log_without_a_witness_does_not_undo_a_failure() -> None:
    """Where the log is all there is, a listed failure stays one; swebench's reading takes the last line."""
    changes = {**UNWITNESSED, "steps": exited(REAL + FORGED)}
    assert verdict_of(changes, NO_WITNESS).reason is TESTS_FAILED


# Case 12: hooked runners.


def test_a_hooked_runner_is_caught_by_the_sabotaged_twin() -> None:
    """Hooks that turn every report to passed deceive log, witness and status, and pass the sabotaged tests too."""
    verdict = verdict_of({"inversion": inversion(*REQUIRED)}, controls(control(inverted=REQUIRED)))
    assert verdict.reason is TAMPERED
    assert "test_new" in verdict.detail


# Case 14: a noisy log.


def test_a_noisy_log_does_not_matter() -> None:
    """Text in between, statuses on lines of their own, glued notices, escaped bytes, an old failure and status 1."""
    log = (
        f"{TURNS} opening the till\nPASSED\n{KEPT} PASSEDPicked up TILL_OPTIONS: -Xmx1g\n\\xff\\xfe\n{CUT} b] PASSED\n"
        f"{CUT} c] PASSED\nFAILED tests/test_a.py::test_known_to_fail - x\n"
    )
    old = report("tests/test_a.py::test_known_to_fail", FAILED)
    changes = {"steps": exited(log), "reports": (*REPORTS, old), "sessions": (session(exit_status=1),)}
    assert verdict_of(changes).outcome is Outcome.PASSED
    without_witness = {"steps": exited(log), **UNWITNESSED}
    assert verdict_of(without_witness, NO_WITNESS).outcome is Outcome.PASSED


# Case 15: broken environment v broken patch.

NOT_COLLECTED: dict[str, Any] = {
    "steps": exited("ERROR tests/test_a.py - ModuleNotFoundError", 2),
    "reports": (),
    "sessions": (session(exit_status=2),),
}
OUT_OF_MEMORY: dict[str, Any] = {
    "steps": exited("", exit_cause=ExitCause.MEMORY, status=-9), "reports": (), "sessions": (session(closed=False),)
}  # fmt: skip


@pytest.mark.parametrize("changes", [NOT_COLLECTED, OUT_OF_MEMORY], ids=["a: collection fails", "c: memory"])
def test_what_the_reference_meets_too_is_the_environment(changes: dict[str, Any]) -> None:
    """A run that ends as the reference's did is a fault, out of the score."""
    seen = record(**changes)
    summary = summarise_control(PROBLEM, seen, judge_control(PROBLEM, seen, parser="pytest"), "pytest")
    verdict = verdict_of(changes, controls(summary))
    assert (verdict.outcome, verdict.reason) == (Outcome.FAULT, Reason.ENVIRONMENT_BROKEN)
    assert summary.reason in verdict.detail
    assert not verdict.scored


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [(NOT_COLLECTED, Outcome.FAILED), (OUT_OF_MEMORY, Outcome.OVER_LIMIT)],
    ids=["b: syntax error", "d: memory"],
)
def test_what_only_the_candidate_meets_is_the_candidate(changes: dict[str, Any], outcome: Outcome) -> None:
    """With a reference that resolves, the same run counts against the candidate."""
    assert verdict_of(changes).outcome is outcome


def test_tests_that_fail_with_the_reference_too_are_the_environment() -> None:
    """As long as nothing else fails; one more failing test is the candidate's."""
    known = controls(control(resolved=False, not_passed=(KEPT,), exit_cause=ExitCause.EXITED, exit_status=1))
    assert verdict_of(failing(KEPT), known).reason is Reason.ENVIRONMENT_BROKEN
    assert verdict_of(failing(TURNS), known).reason is TESTS_FAILED


def test_a_refused_patch_is_the_environments_only_if_the_reference_is_refused_too() -> None:
    """A patch that applies nowhere says nothing about the environment in which nothing ran."""
    changes = {"patch_applied": False, "steps": (), **UNWITNESSED}
    broken = control(resolved=False, reason="tests_not_run", not_passed=REQUIRED)
    assert verdict_of(changes, controls(broken)).reason is Reason.PATCH_REJECTED
    refused = replace(broken, reason="patch_rejected")
    assert verdict_of(changes, controls(refused)).reason is Reason.ENVIRONMENT_BROKEN


def test_tampering_is_never_put_down_to_the_environment() -> None:
    """However broken the reference's run is."""
    known = controls(control(resolved=False, not_passed=REQUIRED, inverted=(TURNS,)))
    assert verdict_of({"inversion": inversion(TURNS)}, known).reason is TAMPERED


# Other forms of log.


def test_two_sympy_tests_of_one_name_do_not_hide_each_other() -> None:
    """The id is their common name: both must pass, and a later ok hides no F."""
    problem = replace(PROBLEM, fail_to_pass=("test_total",), pass_to_pass=())
    log = "a/test_a.py[1] \ntest_total F [FAIL]\n\na/test_b.py[1] \ntest_total ok [OK]\n"
    run = record(steps=exited(log), sessions=(session(runner="sympy", exit_status=1),), reports=())
    reports = (
        report("a/test_a.py::test_total", FAILED, name="test_total"),
        report("a/test_b.py::test_total", name="test_total"),
    )
    witnessed = judge(problem, replace(run, reports=reports), parser="sympy", controls=None)
    assert witnessed.reason is TESTS_FAILED
    alone = judge(problem, replace(run, sessions=()), parser="sympy", controls=None)
    assert alone.reason is TESTS_FAILED
    assert (
        judge_official(problem, record(steps=(step(f"{START}{log.replace(' [OK]', '')}{END}"),)), "sympy").passed == 1
    )


def test_a_docstring_names_a_django_test() -> None:
    """An id that is a docstring's first line is found by the spelling that the witness gives."""
    problem = replace(PROBLEM, fail_to_pass=("The total counts.",), pass_to_pass=())
    log = "test_total (shop.T)\nThe total counts. ... ok\n"
    run = record(
        steps=(step(log),),
        sessions=(session(runner="unittest"),),
        reports=(report("test_total (shop.T)", name="The total counts."),),
    )
    assert judge(problem, run, parser="django", controls=None).outcome is Outcome.PASSED


# Control runs.


def test_a_control_run_is_summed_up() -> None:
    """Skips, ids that only the log mentions and the effect of the sabotage are kept for judging others."""
    run = record(
        reports=(*reported(KEPT, SKIPPED)[1:],),
        inversion=Inversion(sabotaged=REQUIRED, passed=(CUT,), exit_cause=ExitCause.EXITED, wall_seconds=3.0),
    )
    verdict = judge_control(PROBLEM, run, parser="pytest")
    summary = summarise_control(PROBLEM, run, verdict, "pytest")
    assert verdict.outcome is Outcome.PASSED
    assert summary.resolved
    assert (summary.accepted, summary.unreported, summary.not_passed) == ((KEPT,), (TURNS,), ())
    assert summary.inverted == tuple(sorted((TURNS, KEPT)))
    assert (summary.exit_cause, summary.exit_status, summary.wall_seconds) == (ExitCause.FINISHED, 0, 3.0)
    assert judge(PROBLEM, run, parser="pytest", controls=controls(summary)).outcome is Outcome.PASSED


def test_a_skipped_test_to_turn_is_no_sound_control() -> None:
    """If the reference does not run the test that tells patches apart, the instance can judge nothing."""
    run = record(reports=reported(TURNS, SKIPPED))
    assert judge_control(PROBLEM, run, parser="pytest").reason is TESTS_FAILED


def test_a_control_run_without_a_patch_fails() -> None:
    """As it should: the test to turn does not pass."""
    run = record(**failing(TURNS))
    verdict = judge_control(PROBLEM, run, parser="pytest")
    summary = summarise_control(PROBLEM, run, verdict, "pytest")
    assert (summary.resolved, summary.reason, summary.not_passed) == (False, "tests_failed", (TURNS,))


def test_a_control_run_that_never_started_is_summed_up_too() -> None:
    """Without a test command there is no exit, and everything is missing."""
    run = record(steps=(), sessions=(), reports=(), patch_applied=False, patch_message="no", wall_seconds=1.5)
    summary = summarise_control(PROBLEM, run, judge_control(PROBLEM, run, parser="pytest"), "pytest")
    assert (summary.reason, summary.exit_cause, summary.wall_seconds) == ("patch_rejected", None, 1.5)
    assert summary.not_passed == tuple(sorted(REQUIRED))


# Without a run.


def test_a_row_without_tests_resolves_nothing() -> None:
    """An empty FAIL_TO_PASS is no pass, whatever ran."""
    problem = replace(PROBLEM, fail_to_pass=())
    verdict = judge(problem, record(), parser="pytest", controls=None)
    assert (verdict.outcome, verdict.reason) == (Outcome.FAILED, NOT_RUN)


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [
        (Reason.EMPTY, Outcome.NO_ANSWER),
        (Reason.MISSING, Outcome.NO_ANSWER),
        (Reason.TRUNCATED, Outcome.NO_ANSWER),
        (Reason.NOT_A_PATCH, Outcome.UNUSABLE),
        (Reason.NOT_TEXT, Outcome.UNUSABLE),
        (Reason.TOO_LARGE, Outcome.UNUSABLE),
        (Reason.PATCH_REJECTED, Outcome.UNUSABLE),
        (Reason.PROVIDER_ERROR, Outcome.FAULT),
    ],
)
def test_no_patch_is_a_verdict_too(reason: Reason, outcome: Outcome) -> None:
    """It counts as unresolved, unless a model's provider is to blame."""
    verdict = judge_no_patch(NoAnswer(reason=reason, detail="why"), PROBLEM)
    assert (verdict.outcome, verdict.reason, verdict.detail) == (outcome, reason, "why")
    assert (verdict.planned, verdict.passed, verdict.record_digest) == (3, 0, None)


def test_an_unavailable_environment_is_a_fault() -> None:
    """Never a failure of the candidate."""
    verdict = judge_unavailable(PROBLEM, "no Python 3.5")
    assert (verdict.outcome, verdict.reason) == (Outcome.FAULT, Reason.ENVIRONMENT_UNAVAILABLE)


# Statuses for reports.


def test_statuses_name_their_source() -> None:
    """Witness, log or nothing; tests to turn come first."""
    run = record(steps=exited(f"PASSED {TURNS}\nPASSED {KEPT}"), reports=(report(TURNS),))
    tests = repository.test_statuses(PROBLEM, run, "pytest", controls(control(unreported=(KEPT,))))
    assert tests == (
        RequiredTest(id=TURNS, turns=True, passed=True, outcome=PASSED, source=Source.WITNESS),
        RequiredTest(id=KEPT, turns=False, passed=True, outcome=PASSED, source=Source.LOG, detail="the log lists it"),
        RequiredTest(id=CUT, turns=False, passed=False, outcome=None, source=Source.NOTHING),
    )


def test_lists_are_made_of_tests_that_the_witness_saw() -> None:
    """Output that looks like a test is none; where no witness was, the log is believed."""
    log = f"PASSED {TURNS}\nPASSED inner.py::test_x\nFAILED {KEPT} - x\nSKIPPED [1] tests/test_a.py:3: no\n"
    reports = (report(TURNS), report(KEPT, FAILED))
    assert repository.tests_seen(record(steps=exited(log), reports=reports), "pytest") == {TURNS: True, KEPT: False}
    alone = repository.tests_seen(record(steps=exited(log), **UNWITNESSED), "pytest")
    assert {test for test, passed in alone.items() if passed} == {TURNS, "inner.py::test_x"}


# The official rules.

START, END = ">>>>> Start Test Output\n", ">>>>> End Test Output\n"


def official(log: str, problem: RepositoryProblem = PROBLEM, **changes: Any) -> Verdict:
    """The official verdict on a log."""
    return judge_official(problem, record(steps=(step(log, **changes),)), "pytest")


OFFICIAL_CASES: list[tuple[str, str, Reason]] = [
    ("passed", START + GOOD_LOG + END, Reason.ALL_TESTS_PASSED),
    ("expected failure", START + GOOD_LOG.replace(f"PASSED {TURNS}", f"XFAIL {TURNS}") + END, Reason.ALL_TESTS_PASSED),
    ("skipped", START + GOOD_LOG.replace(f"PASSED {TURNS}", f"SKIPPED {TURNS}") + END, Reason.ALL_TESTS_PASSED),
    ("forged before", START + REAL.replace(TURNS, "x") + GOOD_LOG + END, Reason.ALL_TESTS_PASSED),
    ("forged marks", FORGED + START + REAL + END, Reason.ALL_TESTS_PASSED),
    ("outside the marks", GOOD_LOG + START + END, Reason.ALL_TESTS_PASSED),
    ("returns for newlines", (START + GOOD_LOG + END).replace("\n", "\r\n"), Reason.ALL_TESTS_PASSED),
    ("failed", START + REAL + END, TESTS_FAILED),
    ("missing", START + f"PASSED {KEPT}\nPASSED {CUT}\n" + END, TESTS_FAILED),
    ("regression", START + GOOD_LOG.replace(f"PASSED {KEPT}", f"FAILED {KEPT}") + END, Reason.REGRESSION),
    ("no marks", GOOD_LOG, NOT_RUN),
    ("no end", START + GOOD_LOG, NOT_RUN),
    ("time-out mark in the diff", "+>>>>> Tests Timed Out\n" + START + GOOD_LOG + END, Reason.WALL_TIME),
    ("apply mark", ">>>>> Patch Apply Failed\n" + START + GOOD_LOG + END, Reason.PATCH_REJECTED),
    ("reset mark", START + GOOD_LOG + END + ">>>>> Reset Failed", NOT_RUN),
    ("error mark", START + GOOD_LOG + END + ">>>>> Tests Errored", NOT_RUN),
]


@pytest.mark.parametrize(("log", "reason"), [c[1:] for c in OFFICIAL_CASES], ids=[c[0] for c in OFFICIAL_CASES])
def test_official_rules(log: str, reason: Reason) -> None:
    """The log alone decides, with its weaknesses: the witness's reports do not enter."""
    verdict = official(log)
    assert verdict.reason is reason
    assert (verdict.outcome is Outcome.PASSED) == (reason is Reason.ALL_TESTS_PASSED)


def test_official_rules_resolve_rows_without_tests() -> None:
    """As in swebench: nothing required, nothing missing."""
    assert official(START + END, replace(PROBLEM, fail_to_pass=(), pass_to_pass=())).outcome is Outcome.PASSED


def test_official_rules_know_other_ends() -> None:
    """A time-out, another limit, a refused patch and a lost sandbox have their reasons."""
    log = START + GOOD_LOG
    assert official(log + END, exit_cause=ExitCause.WALL_TIME).reason is Reason.WALL_TIME
    assert official(log, exit_cause=ExitCause.MEMORY).reason is Reason.MEMORY
    assert official(log + END, exit_cause=ExitCause.SIGNAL).outcome is Outcome.PASSED
    refused = judge_official(PROBLEM, record(patch_applied=False), "pytest")
    assert refused.reason is Reason.PATCH_REJECTED
    assert judge_official(PROBLEM, record(lost_reason="x"), "pytest").reason is Reason.SANDBOX_LOST
    assert judge_official(PROBLEM, record(steps=()), "pytest").reason is NOT_RUN


# Properties.

OUTCOMES = st.sampled_from(list(TestOutcome))
WORDS = st.sampled_from(["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", ""])


@given(
    st.lists(OUTCOMES, min_size=4, max_size=4),
    st.lists(WORDS, min_size=4, max_size=4),
    st.sampled_from([0, 1, 2, 3, 4, 5, 139]),
    st.booleans(),
    st.sampled_from([None, SOUND]),
)
def test_nothing_resolves_that_the_witness_did_not_see_pass(
    outcomes: list[TestOutcome], words: list[str], status: int, closed: bool, known: RepositoryControls | None
) -> None:
    """Whatever log, status and session say, a resolved run has a passing report for every required test."""
    reports = tuple(replace(old, outcome=outcome) for old, outcome in zip(REPORTS, outcomes, strict=True))
    log = "".join(f"{word} {old.id}\n" for word, old in zip(words, REPORTS, strict=True) if word)
    run = record(steps=exited(log, status), reports=reports, sessions=(session(closed=closed, exit_status=status),))
    verdict = judge(PROBLEM, run, parser="pytest", controls=known)
    may_pass = (PASSED, EXPECTED) if known is None else (PASSED,)
    if verdict.outcome is Outcome.PASSED:
        assert outcomes[0] is PASSED
        assert all(outcome in may_pass for outcome in outcomes[1:])
        assert not {"FAILED", "ERROR"} & set(words)
        assert closed
        assert status in (0, 1)
        assert verdict.passed == verdict.planned
    else:
        assert verdict.detail


def test_a_verdict_survives_the_store() -> None:
    """Judging a record that was written down and read back gives the same verdict."""
    run = record(**failing(KEPT), inversion=inversion(KEPT))
    again = RepositoryRecord.from_plain(run.to_plain())
    assert judge(PROBLEM, again, parser="pytest", controls=SOUND) == judge(
        PROBLEM, run, parser="pytest", controls=SOUND
    )
