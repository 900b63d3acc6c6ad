"""Values of repository problems: what is stored comes back, and a digest changes with everything that decides."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.execution import ExitCause, TestOutcome
from benchwright.core.repositories import (
    ControlSummary,
    Edit,
    Inversion,
    RepositoryControls,
    RepositoryJob,
    RepositoryLimits,
    RepositoryProblem,
    RepositoryRecord,
    Rules,
    SessionReport,
    Step,
    TestReport,
    required_tests,
)

TEXTS = st.text(max_size=20)
NUMBERS = st.integers(0, 2**40)
SECONDS = st.floats(0, 1e6)
NAMES = st.lists(TEXTS, max_size=3).map(tuple)

RECORDS = st.builds(
    RepositoryRecord,
    job_digest=TEXTS,
    patch_applied=st.booleans(),
    patch_message=TEXTS,
    dropped=st.lists(st.builds(Edit, path=TEXTS, why=TEXTS), max_size=2).map(tuple),
    steps=st.lists(
        st.builds(
            Step,
            name=TEXTS,
            exit_cause=st.sampled_from(ExitCause),
            exit_status=st.none() | st.integers(-64, 255),
            wall_seconds=SECONDS,
            cpu_seconds=SECONDS,
            memory_peak_bytes=NUMBERS,
            output=st.text(st.characters()),
            output_total_bytes=NUMBERS,
        ),
        max_size=2,
    ).map(tuple),
    sessions=st.lists(
        st.builds(
            SessionReport,
            session=NUMBERS,
            runner=TEXTS,
            version=TEXTS,
            root=TEXTS,
            closed=st.booleans(),
            exit_status=st.none() | st.integers(0, 5),
            tests=NUMBERS,
        ),
        max_size=2,
    ).map(tuple),
    reports=st.lists(
        st.builds(
            TestReport, session=NUMBERS, id=TEXTS, names=NAMES, outcome=st.sampled_from(TestOutcome), detail=TEXTS
        ),
        max_size=3,
    ).map(tuple),
    report_errors=NAMES,
    inversion=st.none()
    | st.builds(Inversion, sabotaged=NAMES, passed=NAMES, exit_cause=st.sampled_from(ExitCause), wall_seconds=SECONDS),
    sandbox=TEXTS,
    wall_seconds=SECONDS,
    facts=st.lists(st.tuples(TEXTS, TEXTS), max_size=2).map(tuple),
    attempts=st.integers(1, 3),
    lost_reason=TEXTS,
)
SUMMARIES = st.builds(
    ControlSummary,
    resolved=st.booleans(),
    reason=TEXTS,
    detail=TEXTS,
    exit_cause=st.none() | st.sampled_from(ExitCause),
    exit_status=st.none() | st.integers(-64, 255),
    not_passed=NAMES,
    accepted=NAMES,
    unreported=NAMES,
    inverted=NAMES,
    wall_seconds=SECONDS,
    cpu_seconds=SECONDS,
    memory_peak_bytes=NUMBERS,
)
CONTROLS = st.builds(
    RepositoryControls,
    problem_id=TEXTS,
    problem_digest=TEXTS,
    environment=TEXTS,
    sandbox=TEXTS,
    harness_version=NUMBERS,
    reference=st.lists(SUMMARIES, max_size=2).map(tuple),
    empty=st.lists(SUMMARIES, max_size=2).map(tuple),
    date=st.sampled_from(["", "2020-05-01"]),
)


@given(RECORDS)
def test_a_record_comes_back_from_json(record: RepositoryRecord) -> None:
    """Whatever is in it."""
    assert RepositoryRecord.from_plain(json.loads(json.dumps(record.to_plain()))) == record


@given(CONTROLS)
def test_control_runs_come_back_from_json(controls: RepositoryControls) -> None:
    """Whatever is in them."""
    assert RepositoryControls.from_plain(json.loads(json.dumps(controls.to_plain()))) == controls


PROBLEM = RepositoryProblem(
    benchmark="b",
    id="o__n-1",
    repo="o/n",
    version="1",
    base_commit="a" * 40,
    environment_commit="a" * 40,
    issue="i",
    hints="",
    created_at="",
    reference_patch="r",
    test_patch="t",
    fail_to_pass=("a", "b", "a"),
    pass_to_pass=("b", "c"),
    digest="d",
)


def job(**changes: Any) -> RepositoryJob:
    """A job with changes."""
    values: dict[str, Any] = {
        "problem": PROBLEM,
        "patch": "p",
        "environment": "e",
        "sandbox": "namespace",
        "limits": RepositoryLimits(),
        "rules": Rules.BENCHWRIGHT,
        "harness_version": 1,
    }
    return RepositoryJob(**{**values, **changes})


CHANGES: list[dict[str, Any]] = [
    {"problem": dataclasses.replace(PROBLEM, digest="other")},
    {"patch": "p\n"},
    {"patch": ""},
    {"patch": "caf\udce9"},
    {"environment": "f"},
    {"sandbox": "docker"},
    {"rules": Rules.OFFICIAL},
    {"harness_version": 2},
    {"repeat": 1},
    {"date": "2020-05-01"},
    *(
        {"limits": dataclasses.replace(RepositoryLimits(), **{field.name: 7})}
        for field in dataclasses.fields(RepositoryLimits)
    ),
]


@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_a_digest_changes_with_everything_that_decides(changes: dict[str, Any]) -> None:
    """Evidence of one job is never taken for that of another."""
    assert job(**changes).digest != job().digest


def test_digests_are_all_different() -> None:
    """No two of the changes are mistaken for each other, either."""
    assert len({job(**changes).digest for changes in CHANGES}) == len(CHANGES)


def test_a_digest_is_of_content() -> None:
    """Equal jobs have one digest, and what the row is called in a benchmark does not matter."""
    assert job().digest == job().digest
    renamed = dataclasses.replace(PROBLEM, benchmark="other", tags=("x",))
    assert job(problem=renamed).digest == job().digest


def test_required_tests_are_named_once() -> None:
    """FAIL_TO_PASS first, in the order of the row."""
    assert required_tests(PROBLEM) == ("a", "b", "c")


def summary(*, resolved: bool, reason: str = "r", not_passed: tuple[str, ...] = ()) -> ControlSummary:
    """A control run."""
    return ControlSummary(
        resolved=resolved,
        reason=reason,
        detail="",
        exit_cause=None,
        exit_status=None,
        not_passed=not_passed,
        accepted=(),
        unreported=(),
        inverted=(),
        wall_seconds=0.0,
        cpu_seconds=0.0,
        memory_peak_bytes=0,
    )


GOOD, BAD = summary(resolved=True), summary(resolved=False, not_passed=("a",))


@pytest.mark.parametrize(
    ("reference", "empty", "sound", "stable"),
    [
        ((GOOD,), (BAD,), True, True),
        ((GOOD, GOOD), (BAD, BAD), True, True),
        ((BAD,), (BAD,), False, True),
        ((GOOD,), (GOOD,), False, True),
        ((GOOD, BAD), (BAD, BAD), False, False),
        ((GOOD,), (BAD, GOOD), False, False),
        ((GOOD,), (BAD, dataclasses.replace(BAD, not_passed=("a", "b"))), True, False),
        ((GOOD,), (BAD, dataclasses.replace(BAD, reason="crashed")), True, False),
        ((), (), False, True),
    ],
)
def test_when_control_runs_are_sound_and_stable(
    reference: tuple[ControlSummary, ...], empty: tuple[ControlSummary, ...], sound: bool, stable: bool
) -> None:
    """Sound: the reference always resolves and no patch never does.  Stable: repeats agree in every required test."""
    controls = RepositoryControls(
        problem_id="p",
        problem_digest="d",
        environment="e",
        sandbox="s",
        harness_version=1,
        reference=reference,
        empty=empty,
    )
    assert (controls.sound, controls.stable) == (sound, stable)
