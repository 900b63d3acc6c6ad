"""Facts about the official harness's report files as we write them.

The shapes are those that swebench 4.1.0 wrote for the same outcomes (`make_run_report` without a Docker client, and
`get_eval_report`), keys in its order.
"""

import json
from pathlib import Path

import pytest

from benchwright.benchmarks.repositories import RepositorySet
from benchwright.benchmarks.swebench.official import (
    OfficialInstance,
    OfficialStatus,
    instance_report,
    run_report,
    status_of,
    write_official_files,
)
from benchwright.core.attempts import Attempt
from benchwright.core.errors import MachineError, UsageError
from benchwright.core.verdicts import Outcome, Reason, Verdict

X, Y, Z = "test_core.py::test_x", "test_core.py::test_y", "test_core.py::test_z[a b]"


def instance(
    problems: RepositorySet, number: int, status: OfficialStatus, passed: frozenset[str] | None = None
) -> OfficialInstance:
    return OfficialInstance(problem=problems.by_id[f"owner__pkg-{number}"], status=status, passed=passed)


def verdict(outcome: Outcome, reason: Reason) -> Verdict:
    return Verdict(outcome=outcome, reason=reason, detail="", planned=3, passed=0, judge_version=1, record_digest=None)


def test_the_run_report_is_the_official_one() -> None:
    """Counts and lists, sorted as text, in the official order of keys."""
    ids = [f"owner__pkg-{n}" for n in range(1, 11)]
    statuses = {
        ids[9]: OfficialStatus.RESOLVED,
        ids[1]: OfficialStatus.RESOLVED,
        ids[2]: OfficialStatus.UNRESOLVED,
        ids[3]: OfficialStatus.EMPTY_PATCH,
        ids[4]: OfficialStatus.ERROR,
    }
    report = run_report(ids, statuses)
    assert list(report.items()) == [
        ("total_instances", 10),
        ("submitted_instances", 5),
        ("completed_instances", 3),
        ("resolved_instances", 2),
        ("unresolved_instances", 1),
        ("empty_patch_instances", 1),
        ("error_instances", 1),
        ("completed_ids", ["owner__pkg-10", "owner__pkg-2", "owner__pkg-3"]),
        ("incomplete_ids", ["owner__pkg-1", "owner__pkg-6", "owner__pkg-7", "owner__pkg-8", "owner__pkg-9"]),
        ("empty_patch_ids", ["owner__pkg-4"]),
        ("submitted_ids", ["owner__pkg-10", "owner__pkg-2", "owner__pkg-3", "owner__pkg-4", "owner__pkg-5"]),
        ("resolved_ids", ["owner__pkg-10", "owner__pkg-2"]),
        ("unresolved_ids", ["owner__pkg-3"]),
        ("error_ids", ["owner__pkg-5"]),
        ("schema_version", 2),
        ("unstopped_instances", 0),
        ("unstopped_containers", []),
        ("unremoved_images", []),
    ]
    with pytest.raises(UsageError, match="cannot list stranger"):
        run_report(ids, {"stranger": OfficialStatus.ERROR})


def test_the_report_on_an_instance_is_the_official_one(three: RepositorySet) -> None:
    """Each required test is a success or a failure, in the row's order; the to-fail lists are empty."""
    report = instance_report(instance(three, 1, OfficialStatus.UNRESOLVED, frozenset({X, Z, "another"})))
    assert report == {
        "owner__pkg-1": {
            "patch_is_None": False,
            "patch_exists": True,
            "patch_successfully_applied": True,
            "resolved": False,
            "tests_status": {
                "FAIL_TO_PASS": {"success": [X], "failure": []},
                "PASS_TO_PASS": {"success": [Z], "failure": [Y]},
                "FAIL_TO_FAIL": {"success": [], "failure": []},
                "PASS_TO_FAIL": {"success": [], "failure": []},
            },
        }
    }
    assert instance_report(instance(three, 2, OfficialStatus.UNRESOLVED)) == {
        "owner__pkg-2": {
            "patch_is_None": False,
            "patch_exists": True,
            "patch_successfully_applied": False,
            "resolved": False,
        }
    }
    assert instance_report(instance(three, 2, OfficialStatus.EMPTY_PATCH)) == {
        "owner__pkg-2": {
            "patch_is_None": True,
            "patch_exists": False,
            "patch_successfully_applied": False,
            "resolved": False,
        }
    }


@pytest.mark.parametrize(
    ("outcome", "reason", "status"),
    [
        (Outcome.PASSED, Reason.ALL_TESTS_PASSED, OfficialStatus.RESOLVED),
        (Outcome.FAILED, Reason.TESTS_FAILED, OfficialStatus.UNRESOLVED),
        (Outcome.FAILED, Reason.TAMPERED, OfficialStatus.UNRESOLVED),
        (Outcome.NO_ANSWER, Reason.EMPTY, OfficialStatus.EMPTY_PATCH),
        (Outcome.UNUSABLE, Reason.PATCH_REJECTED, OfficialStatus.ERROR),
        (Outcome.OVER_LIMIT, Reason.WALL_TIME, OfficialStatus.ERROR),
        (Outcome.OVER_LIMIT, Reason.MEMORY, OfficialStatus.UNRESOLVED),
        (Outcome.FAULT, Reason.SANDBOX_LOST, OfficialStatus.ERROR),
    ],
)
def test_verdicts_are_listed_where_the_official_harness_would(
    outcome: Outcome, reason: Reason, status: OfficialStatus
) -> None:
    """A patch that does not apply, a time-out and a fault of ours are errors; only passing resolves."""
    assert status_of(verdict(outcome, reason)) is status


def test_every_outcome_has_a_place() -> None:
    """No verdict is without a place in the report."""
    assert {status_of(verdict(outcome, Reason.EMPTY)) for outcome in Outcome} == set(OfficialStatus)


def test_the_files_lie_where_the_harness_puts_them(three: RepositorySet, tmp_path: Path) -> None:
    """Slashes of a model's name become underscores; only completed instances have a report of their own."""
    written = write_official_files(
        tmp_path,
        model="maker/birch",
        run_id="run-1",
        problem_ids=three.by_id,
        instances=[
            instance(three, 1, OfficialStatus.RESOLVED, frozenset({X, Y, Z})),
            instance(three, 2, OfficialStatus.ERROR),
        ],
        attempts=[Attempt(problem_id="owner__pkg-1", sample=0, solution=None, raw_text="x", model="maker/birch")],
    )
    assert sorted(str(path.relative_to(tmp_path)) for path in written) == [
        "logs/run_evaluation/run-1/maker__birch/owner__pkg-1/report.json",
        "maker__birch.run-1.json",
        "preds.json",
    ]
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(written)
    assert json.loads((tmp_path / "maker__birch.run-1.json").read_text())["error_ids"] == ["owner__pkg-2"]
    assert json.loads((tmp_path / "preds.json").read_text()) == {
        "owner__pkg-1": {"instance_id": "owner__pkg-1", "model_name_or_path": "maker/birch", "model_patch": "x"}
    }


@pytest.mark.parametrize(("model", "run_id"), [("", "r"), ("m", ""), ("..", "r"), ("m", "a/b"), ("m", "..")])
def test_names_that_are_no_file_names_are_refused(
    three: RepositorySet, tmp_path: Path, model: str, run_id: str
) -> None:
    """The files stay in their folder."""
    with pytest.raises(UsageError, match="give names to files"):
        write_official_files(tmp_path, model=model, run_id=run_id, problem_ids=three.by_id, instances=[], attempts=[])
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_be_written_are_the_machines_fault(three: RepositorySet, tmp_path: Path) -> None:
    """A place that is no folder is named."""
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match=r"m\.r\.json cannot be written"):
        write_official_files(
            tmp_path / "file", model="m", run_id="r", problem_ids=three.by_id, instances=[], attempts=[]
        )
