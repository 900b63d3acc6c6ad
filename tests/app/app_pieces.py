"""Workspaces with the built environments but records of their own, sample files, and scripted gradings."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchwright.app.grading import GradeOptions, GradeReport, grade
from benchwright.app.workspace import Workspace
from benchwright.benchmarks.starter.benchmark import BENCHMARK
from benchwright.core.errors import BenchwrightError
from benchwright.core.execution import ExecutionRecord, Job
from benchwright.environments.environment import open_environment
from benchwright.environments.home import default_home
from benchwright.execution.schedulers.local import LocalOptions
from benchwright.execution.target import Target
from benchwright.grading.run import Progress
from benchwright.testing import ScriptedScheduler, finished_record

PROBLEMS = BENCHMARK.load().problems
WRONG = "def task_func(*args, **kwargs):\n    return None\n"


def private_home(folder: Path) -> Path:
    """A benchwright home with the user's environments and nothing else; skips when starter is not built."""
    home = default_home(os.environ)
    try:
        open_environment("starter", home)
    except BenchwrightError as error:
        pytest.skip(f"the starter environment is not usable: {error}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "environments").symlink_to(home / "environments")
    return folder


def write_samples(path: Path, solutions: Iterable[tuple[str, Any]], **fields: Any) -> Path:
    """A sample file: id and solution of each row."""
    rows = ({"task_id": task_id, "solution": solution, **fields} for task_id, solution in solutions)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def references(count: int) -> list[tuple[str, str]]:
    """The references of the first problems, as solutions."""
    return [(problem.id, problem.reference) for problem in PROBLEMS[:count]]


def first_ids(count: int) -> tuple[str, ...]:
    """Ids of the first problems."""
    return tuple(problem.id for problem in PROBLEMS[:count])


def silent(progress: Progress) -> None:
    """Take progress and say nothing."""


def run_grading(home: Path, samples: Path, out: Path, **options: Any) -> GradeReport:
    """Grade a file with one worker."""
    values: dict[str, Any] = {"benchmark": "starter", "workers": 1, **options}
    return grade(GradeOptions(samples=samples, out=out, **values), Workspace(home=home), silent)


Script = Callable[[Job], ExecutionRecord]


class ScriptedFactory:
    """Stands where `LocalScheduler` is made, and makes scripted ones that share a list of what they ran."""

    def __init__(self, script: Script = finished_record) -> None:
        self.script = script
        self.ran: list[Job] = []
        self.options: list[LocalOptions] = []

    def __call__(self, target: Target, options: LocalOptions) -> ScriptedScheduler:
        """A scheduler as the app asks for."""
        self.options.append(options)
        return ScriptedScheduler(self._run)

    def _run(self, job: Job) -> ExecutionRecord:
        self.ran.append(job)
        return self.script(job)


def by_problem(report: GradeReport, score: str) -> Mapping[str, tuple[str, str]]:
    """Outcome and reason by problem under a score, of samples numbered 0."""
    return {
        row.problem_id: (row.verdict.outcome.value, row.verdict.reason.value)
        for row in report.rows
        if row.score.value == score and row.sample == 0
    }
