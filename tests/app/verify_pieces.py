"""Bundles of functions and of patches to change, and what is found in them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, WRONG, ScriptedFactory, first_ids, private_home, references, run_grading, write_samples
from patch_pieces import graded_patches, nothing_is_built

from benchwright.app.bundles import write_bundle
from benchwright.app.verifying import VerifyReport
from benchwright.app.workspace import Workspace
from benchwright.core.execution import ExecutionRecord, Job, TestOutcome
from benchwright.testing import finished_record

Forgery = tuple[str, Callable[[Any], Any], str, str]
"""File, change, the check that finds it, and what it says."""


def scripted_record(job: Job) -> ExecutionRecord:
    """`WRONG` fails its first test, everything else passes."""
    return finished_record(job, {job.plan.tests[0].id: TestOutcome.FAILED} if WRONG in job.submission.code else {})


def functions_bundle(folder: Path) -> Path:
    """The bundle of two right answers, a wrong one, an empty one, and a problem without any."""
    home = private_home(folder / "home")
    answers = [*references(2), (PROBLEMS[2].id, WRONG), (PROBLEMS[3].id, "")]
    samples = write_samples(folder / "samples.jsonl", answers, model="m")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("benchwright.app.grading.LocalScheduler", ScriptedFactory(scripted_record))
        report = run_grading(home, samples, folder / "a", ids=first_ids(5))
    return write_bundle(report.folder, folder / "a.bw.zip", Workspace(home=home)).path


def patches_bundle(folder: Path) -> Path:
    """The bundle of a patch that resolves, one that does not, and an empty one; the data file is gone."""
    with pytest.MonkeyPatch.context() as patched:
        nothing_is_built(patched)
        report = graded_patches(folder)
    assert [row.verdict.outcome.value for row in report.rows] == ["passed", "failed", "no_answer"]
    path = write_bundle(report.folder, folder / "p.bw.zip", Workspace(home=folder / "home")).path
    (folder / "rows.jsonl").unlink()
    return path


def found(report: VerifyReport) -> set[str]:
    """Which checks found something."""
    return {finding.check.value for finding in report.findings}


def texts(report: VerifyReport) -> list[str]:
    """What was found."""
    return [finding.text for finding in report.findings]
