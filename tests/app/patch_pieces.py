"""A grading of three patches in which nothing is built or run: one resolves, one does not, one is empty."""

import json
from pathlib import Path
from typing import Any

import pytest
from agent_pieces import BAD, GOOD, IDS, setup_of, write_rows

from benchwright.app.repositories import grading
from benchwright.app.repositories.grading import ControlMode, PatchGradeOptions, PatchGradeReport, grade_patches
from benchwright.app.repositories.selection import Selection
from benchwright.app.repositories.setups import Selected
from benchwright.app.workspace import Workspace
from benchwright.core.execution import ExitCause, TestOutcome
from benchwright.core.repositories import (
    TESTS_STEP,
    RepositoryJob,
    RepositoryRecord,
    SessionReport,
    Step,
    TestReport,
)
from benchwright.grading.repositories import RepositoryPipeline


def seen(pipeline: RepositoryPipeline, job: RepositoryJob) -> RepositoryRecord:
    """What is seen of a patch: `GOOD` passes the one test."""
    outcome = TestOutcome.PASSED if "+good" in job.patch else TestOutcome.FAILED
    status = int(outcome is TestOutcome.FAILED)
    step = Step(
        name=TESTS_STEP,
        exit_cause=ExitCause.FINISHED if not status else ExitCause.EXITED,
        exit_status=status,
        wall_seconds=1.0,
        cpu_seconds=0.5,
        memory_peak_bytes=10,
        output=f"{outcome.value.upper()} t::a\n",
        output_total_bytes=12,
    )
    session = SessionReport(
        session=0, runner="pytest", version="8", root="/testbed", closed=True, exit_status=status, tests=1
    )
    report = TestReport(session=0, id="t::a", names=("t::a",), outcome=outcome)
    return RepositoryRecord(
        job_digest=job.digest,
        patch_applied=True,
        steps=(step,),
        sessions=(session,),
        reports=(report,),
        wall_seconds=2.0,
    )


def nothing_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the scripted parts in the places of those that need environments."""

    def select(selection: Selection, workspace: Workspace, *, only: Any = None) -> Selected:
        problems = selection.load()
        return Selected(problems=problems, setups={p.id: setup_of(p) for p in problems.problems}, unavailable={})

    monkeypatch.setattr(grading, "select", select)
    monkeypatch.setattr(RepositoryPipeline, "run", seen)


def patch_options(folder: Path, **settings: Any) -> PatchGradeOptions:
    """Options of a grading of rows that are written into a folder."""
    values: dict[str, Any] = {"workers": 1, "controls": ControlMode.STORED, **settings}
    return PatchGradeOptions(selection=Selection(benchmark="repositories", data=write_rows(folder)), **values)


def graded_patches(folder: Path) -> PatchGradeReport:
    """The grading, in the home below the folder."""
    predictions = folder / "preds.json"
    entries = [
        {"instance_id": name, "model_patch": patch, "model_name_or_path": "m"}
        for name, patch in zip(IDS, (GOOD, BAD, ""), strict=True)
    ]
    predictions.write_text(json.dumps(entries))
    options = patch_options(folder, predictions=predictions, out=folder / "p")
    return grade_patches(options, Workspace(home=folder / "home"), lambda progress: None)
