"""The values everything speaks in: records, control runs, digests, names, errors."""

import dataclasses
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.controls import ControlOutcome, ControlRun
from benchwright.core.digest import canonical_json, digest_of, digest_of_bytes, digest_of_text
from benchwright.core.errors import (
    BenchwrightError,
    IsolationRefusedError,
    MachineError,
    SandboxFault,
    UnknownNameError,
    UsageError,
)
from benchwright.core.execution import (
    ExecutionRecord,
    ExitCause,
    Isolation,
    Job,
    Limits,
    LoadError,
    PlannedTest,
    Submission,
    TestOutcome,
    TestPlan,
    TestResult,
)
from benchwright.core.registry import Registry
from benchwright.core.verdicts import Outcome, Verdict

text = st.text(st.characters(codec=None), max_size=20)  # lone surrogates too
small = st.integers(0, 1 << 40)
seconds = st.floats(0, 1e6)
plain_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
    max_leaves=12,
)
records = st.builds(
    ExecutionRecord,
    job_digest=text,
    exit_cause=st.sampled_from(ExitCause),
    exit_status=st.none() | st.integers(-64, 255),
    tests=st.lists(
        st.builds(
            TestResult, id=text, outcome=st.sampled_from(TestOutcome), seconds=seconds, exception=text, message=text
        ),
        max_size=3,
    ).map(tuple),
    load_error=st.none()
    | st.builds(
        LoadError, phase=text, exception=text, message=text, line=st.none() | small, missing_module=st.none() | text
    ),
    interference=st.lists(text, max_size=2).map(tuple),
    protocol_errors=st.lists(text, max_size=2).map(tuple),
    missing_modules=st.lists(text, max_size=2).map(tuple),
    wall_seconds=seconds,
    cpu_seconds=seconds,
    memory_peak_bytes=small,
    output=text,
    output_total_bytes=small,
    isolation=st.sampled_from(Isolation),
    facts=st.lists(st.tuples(text, text), max_size=2).map(tuple),
    attempts=small,
    lost_reason=text,
)


@given(records)
def test_records_survive_their_plain_form(record: ExecutionRecord) -> None:
    """A record read back from JSON is equal, field by field, and plain data has nothing but plain values."""
    assert ExecutionRecord.from_plain(json.loads(json.dumps(record.to_plain()))) == record


def test_foreign_data_is_no_record() -> None:
    """Data of another shape raises what `from_plain` promises."""
    plain = ExecutionRecord(job_digest="d", exit_cause=ExitCause.FINISHED).to_plain()
    with pytest.raises(ValueError, match="teapot"):
        ExecutionRecord.from_plain({**plain, "exit_cause": "teapot"})
    with pytest.raises(KeyError):
        ExecutionRecord.from_plain({"job_digest": "d"})


def make_job(**changes: Any) -> Job:
    """A job with changes."""
    values: dict[str, Any] = {
        "submission": Submission(code="x", stub=None, entry_point="f"),
        "plan": TestPlan(source="s", class_name="C", tests=(PlannedTest(id="C.t"),)),
        "environment": "e",
        "tier": "bare",
        "limits": Limits(),
        "guest_version": "g",
        "isolation": Isolation.NAMESPACE,
    }
    return Job(**(values | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"submission": Submission(code="y", stub=None, entry_point="f")},
        {"submission": Submission(code="x", stub="", entry_point="f")},
        {"submission": Submission(code="x", stub=None, entry_point="g")},
        {"plan": TestPlan(source="s", class_name="C", tests=(PlannedTest(id="C.u"),))},
        {"environment": "other"},
        {"limits": Limits(wall_seconds=241)},
        {"guest_version": "h"},
        {"isolation": Isolation.PROCESS},
    ],
)
def test_a_jobs_digest_covers_what_can_change_its_result(changes: dict[str, Any]) -> None:
    """Another submission, plan, environment, limit, guest or isolation level is another job."""
    assert make_job(**changes).digest != make_job().digest
    assert make_job(**changes).digest == make_job(**changes).digest


def test_the_tier_does_not_name_a_job() -> None:
    """Any tier must give the same result, so the choice of one makes no new job."""
    assert make_job(tier="all").digest == make_job().digest


@given(plain_data)
def test_canonical_json_does_not_depend_on_order(value: Any) -> None:
    """Equal data has one spelling, and that spelling reads back as the data."""

    def turned(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: turned(item[key]) for key in reversed(list(item))}
        return [turned(one) for one in item] if isinstance(item, list) else item

    assert canonical_json(turned(value)) == canonical_json(value)
    assert digest_of(turned(value)) == digest_of(value)
    assert json.loads(canonical_json(value)) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, [1, -math.inf]])
def test_numbers_that_json_lacks_are_refused(value: object) -> None:
    """NaN and infinity have no canonical spelling."""
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json(value)


def test_digests_are_sha256() -> None:
    """Anyone can compute the digest of a text or file with standard tools."""
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest_of_text("abc") == digest_of_bytes(b"abc") == expected
    assert digest_of_text("\ud800") != digest_of_text("\udc00")


outcomes = st.builds(
    ControlOutcome,
    outcome=st.sampled_from(["passed", "failed", "fault"]),
    reason=text,
    detail=text,
    wall_seconds=seconds,
    cpu_seconds=seconds,
    memory_peak_bytes=small,
)
controls = st.builds(
    ControlRun,
    problem_id=text,
    problem_digest=text,
    environment=text,
    guest_version=text,
    references=st.lists(outcomes, min_size=1, max_size=3).map(tuple),
    stubs=st.lists(outcomes, min_size=1, max_size=3).map(tuple),
    needs_network=st.booleans(),
)


@given(controls)
def test_control_runs_survive_their_plain_form(control: ControlRun) -> None:
    """A control run read back is equal and says the same of its repeats."""
    assert ControlRun.from_plain(json.loads(json.dumps(control.to_plain()))) == control
    assert control.wall_seconds == max(run.wall_seconds for run in control.references)
    assert control.reference_passes == ({run.outcome for run in control.references} == {"passed"})
    assert control.stub_passes == ("passed" in {run.outcome for run in control.stubs})
    if len(control.references) == len(control.stubs) == 1:
        assert not control.flaky


def test_the_registry_imports_late_and_names_near_misses() -> None:
    """A built-in is imported when asked for; a typing error is answered with what was probably meant."""
    registry: Registry[Any] = Registry(
        "thing", {"decoder": "json:JSONDecoder", "broken": "no_such:x"}, group="none.here"
    )
    assert registry.names() == ("broken", "decoder")
    assert registry.get("decoder") is json.JSONDecoder
    with pytest.raises(UnknownNameError, match="no thing named 'decodr'; did you mean decoder"):
        registry.get("decodr")
    with pytest.raises(UnknownNameError, match="known: broken, decoder"):
        registry.get("zzz")
    with pytest.raises(ModuleNotFoundError):
        registry.get("broken")


def test_the_tree_of_exceptions() -> None:
    """Whoever catches the root catches everything raised on purpose, and misuse is no machine's fault."""
    for kind in (UsageError, UnknownNameError, MachineError, IsolationRefusedError, SandboxFault):
        assert issubclass(kind, BenchwrightError)
    assert not issubclass(UsageError, MachineError)
    assert issubclass(IsolationRefusedError, MachineError)
    assert str(UnknownNameError("k", "a", ())) == "There is no k named 'a'; known: none."


def test_only_faults_are_unscored() -> None:
    """Every outcome but a fault counts in the denominator."""
    for outcome in Outcome:
        values = {field.name: None for field in dataclasses.fields(Verdict)} | {"outcome": outcome}
        assert Verdict(**values).scored == (outcome is not Outcome.FAULT)  # type: ignore[arg-type]
