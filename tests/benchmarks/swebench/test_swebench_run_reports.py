"""Reports of the official harness and folders of submissions, read as they are written."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.benchmarks.swebench.official import OfficialStatus, run_report
from benchwright.benchmarks.swebench.run_reports import (
    RunReport,
    instance_report_folders,
    looks_like_run_report,
    read_instance_reports,
    read_run_report,
    read_submission,
    submission_folders,
)
from benchwright.core.errors import UsageError

IDS = [f"o__r-{n}" for n in range(1, 9)]


def report_file(folder: Path, content: Any, name: str = "gpt-4.1.my-run.json") -> RunReport:
    """The report of a file with this content."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return read_run_report(path)


@given(st.dictionaries(st.sampled_from(IDS), st.sampled_from(OfficialStatus)))
def test_what_we_write_is_read_back(tmp_path_factory: pytest.TempPathFactory, statuses: Mapping[str, Any]) -> None:
    """Our own report on a run, in the official form, gives every status and who was not submitted."""
    found = report_file(tmp_path_factory.getbasetemp(), run_report(IDS, statuses))
    assert found.statuses == statuses
    assert found.not_submitted == set(IDS) - statuses.keys()
    assert (found.model, found.names_all) == ("gpt-4.1", True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not JSON"),
        (b"[]", "is a list"),
        ({}, "no report on a run"),
        ({"resolved_ids": []}, "names no instance"),
        ({"resolved_ids": "x"}, "resolved_ids is a string"),
        ({"resolved_ids": [3]}, "an instance id is a number"),
        ({"resolved_ids": ["a"], "unresolved_ids": ["a"]}, "lists a as resolved and as unresolved"),
        ({"resolved_ids": ["a"], "incomplete_ids": ["a"]}, "lists a as incomplete and as resolved"),
        ({"resolved_ids": ["a"], "resolved_instances": 2}, "says resolved_instances: 2 and lists 1"),
        ({"resolved_ids": ["a"], "schema_version": 3}, "has schema_version 3"),
    ],
)
def test_reports_that_contradict_themselves_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    """Lists that overlap, counts that are not theirs, other versions: nothing is chosen between them."""
    with pytest.raises(UsageError) as caught:
        report_file(tmp_path, content)
    assert message in str(caught.value)


def test_the_form_is_known_by_its_field() -> None:
    """A list of resolved ids makes a report."""
    assert looks_like_run_report({"resolved_ids": []})
    assert not any(map(looks_like_run_report, ({}, [], None, {"resolved_ids": {}}, {"resolved": []})))


def instance(folder: Path, name: str, content: Any) -> None:
    """An instance's folder with its report, or without where there is none."""
    (folder / name).mkdir(parents=True)
    if content is not None:
        (folder / name / "report.json").write_text(json.dumps(content), encoding="utf-8")


def status_of_tests(not_fixed: int = 0, broken: int = 0) -> dict[str, Any]:
    """Of two and three tests, so many failed."""

    def group(count: int, failed: int) -> dict[str, list[str]]:
        return {"success": ["t"] * (count - failed), "failure": ["t"] * failed}

    return {"FAIL_TO_PASS": group(2, not_fixed), "PASS_TO_PASS": group(3, broken)}


def test_reports_on_instances(tmp_path: Path) -> None:
    """Resolved, unresolved with its tests, no patch, and a folder without a report, which is an error as officially."""
    folder = tmp_path / "o__model"
    instance(folder, "a-1", {"a-1": {"resolved": True, "tests_status": status_of_tests()}})
    instance(folder, "a-2", {"a-2": {"resolved": False, "patch_is_None": False, "tests_status": status_of_tests(1, 2)}})
    instance(folder, "a-3", {"a-3": {"resolved": False, "patch_is_None": True}})
    instance(folder, "a-4", None)
    found = read_instance_reports(folder)
    assert [found.statuses[name].value for name in ("a-1", "a-2", "a-3", "a-4")] == [
        "resolved", "unresolved", "empty_patch", "error",
    ]  # fmt: skip
    assert (found.tests["a-2"].planned, found.tests["a-2"].passed) == (5, 2)
    assert found.tests.keys() == {"a-1", "a-2"}
    assert (found.model, found.names_all, len(found.files)) == ("o__model", False, 1)
    assert instance_report_folders(folder) == instance_report_folders(tmp_path) == (folder,)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"other-1": {"resolved": True}}, "reports on other-1; expected a-1 alone"),
        ([], "is a list"),
        ({"a-1": []}, "the report is a list"),
        ({"a-1": {"resolved": "yes"}}, "'resolved' is a string"),
        ({"a-1": {"resolved": True, "tests_status": []}}, "tests_status is a list"),
        ({"a-1": {"resolved": True, "tests_status": {"FAIL_TO_PASS": {"success": []}}}}, "no lists"),
    ],
)
def test_reports_on_instances_in_other_forms_are_refused(tmp_path: Path, content: Any, message: str) -> None:
    """The file is named, and what was expected."""
    instance(tmp_path, "a-1", content)
    with pytest.raises(UsageError, match=r"report\.json") as caught:
        read_instance_reports(tmp_path)
    assert message in str(caught.value)


def test_a_submission_of_the_experiments_repository(tmp_path: Path) -> None:
    """Its folder's name, what it calls itself, whom it resolved, and for whom there was no patch or no log."""
    folder = tmp_path / "20240101_agent"
    (folder / "results").mkdir(parents=True)
    results = {"resolved": ["a-1", "a-1"], "no_generation": ["a-2"], "no_logs": ["a-3"]}
    (folder / "results" / "results.json").write_text(json.dumps(results), encoding="utf-8")
    (folder / "metadata.yaml").write_text("info:\n  name: 'The Agent'\n  site: x\n", encoding="utf-8")
    found = read_submission(folder)
    assert {name: status.value for name, status in found.statuses.items()} == {
        "a-1": "resolved", "a-2": "empty_patch", "a-3": "error",
    }  # fmt: skip
    assert (found.model, found.title, found.names_all) == ("20240101_agent", "The Agent", False)
    assert submission_folders(folder) == submission_folders(tmp_path) == (folder,)
    (folder / "metadata.yaml").unlink()
    assert read_submission(folder).title == ""


def test_a_submission_without_its_list_is_refused(tmp_path: Path) -> None:
    """A results file that names nobody is not a run in which nothing was resolved."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "results.json").write_text('{"applied": []}', encoding="utf-8")
    with pytest.raises(UsageError, match="no field 'resolved'"):
        read_submission(tmp_path)


def test_folders_without_results_are_empty(tmp_path: Path) -> None:
    """Nothing is found where nothing is."""
    assert submission_folders(tmp_path) == instance_report_folders(tmp_path) == ()
