"""The starter rows, the recorded answers, and the outcomes of running them all once."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchwright.benchmarks.starter import source

HARNESS = Path(__file__).with_name("harness.py")
ANSWERS = Path(source.__file__).with_name("answers")
SYSTEMS = ("alder", "birch", "cedar")
# Notes of answers that would hang, crash or deceive the harness; it never gets them.
HOSTILE_NOTES = {"infinite loop", "long sleep", "hard crash", "forged exit", "patched unittest"}
NEEDED_LIBRARIES = ("numpy", "pandas", "matplotlib")
# All programs together take about fifteen seconds on two busy cores.
SECONDS_FOR_ALL = 300

Row = dict[str, Any]
Outcomes = dict[str, dict[str, Any]]


@pytest.fixture(scope="session")
def rows() -> list[Row]:
    """The rows of the benchmark."""
    return source.read_rows()


@pytest.fixture(scope="session")
def answers() -> dict[str, list[Row]]:
    """The recorded answers by system."""
    return {
        system: [json.loads(line) for line in (ANSWERS / f"{system}.jsonl").read_text("utf-8").splitlines()]
        for system in SYSTEMS
    }


@pytest.fixture(scope="session")
def outcomes(rows: list[Row], answers: dict[str, list[Row]], tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """What became of each program, by an id such as "reference/Starter/0", from one run of the harness."""
    absent = [name for name in NEEDED_LIBRARIES if importlib.util.find_spec(name) is None]
    if absent:
        pytest.skip(f"running the starter tasks needs {', '.join(absent)}")
    folder = tmp_path_factory.mktemp("starter")
    jobs = [job for row in rows for job in task_jobs(row)]
    prompts = {row["task_id"]: row for row in rows}
    for system, recorded in answers.items():
        jobs += [job for answer in recorded for job in answer_jobs(system, answer, prompts[answer["task_id"]])]
    (folder / "jobs.json").write_text(json.dumps(jobs))
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "TMPDIR": str(folder)}
    subprocess.run(
        [sys.executable, str(HARNESS), "jobs.json", "results.json"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        check=True,
        timeout=SECONDS_FOR_ALL,
    )
    return dict(json.loads((folder / "results.json").read_text()))


def task_jobs(row: Row) -> list[Row]:
    """Return the jobs that concern a task itself: its reference, its stub and its examples."""
    reference = row["complete_prompt"] + row["canonical_solution"]
    measure = importlib.util.find_spec("coverage") is not None
    return [
        job(f"reference/{row['task_id']}", reference, row["test"], measure=measure),
        job(f"stub/{row['task_id']}", stub(row), row["test"]),
        job(f"examples/{row['task_id']}", reference, check="examples"),
    ]


def answer_jobs(system: str, answer: Row, row: Row) -> list[Row]:
    """Return the jobs of an answer: on its own, and calibrated, that is with the stub in front of it."""
    if answer["note"] in HOSTILE_NOTES:
        return []
    calibrated = stub(row) + "\n" + answer["solution"]
    return [
        job(f"{system}/alone/{row['task_id']}", answer["solution"], row["test"]),
        job(f"{system}/calibrated/{row['task_id']}", calibrated, row["test"]),
    ]


def stub(row: Row) -> str:
    """Return the start code as a function that does nothing."""
    return str(row["code_prompt"]) + "\n    pass\n"


def job(name: str, *sources: str, check: str = "tests", measure: bool = False) -> Row:
    """Return one job for the harness."""
    return {"id": name, "sources": sources, "check": check, "measure": measure}
