"""Real replies of a real model, played back through Inspect: graded as `bw grade` grades the file they come from."""

import ast
import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput, ModelUsage

from benchwright.app.grading import GradeOptions, grade
from benchwright.app.run import run
from benchwright.app.runplan import ModelSettings, RunOptions, plan_run
from benchwright.app.workspace import Workspace
from benchwright.bridge.grader import ALL_SCORES
from benchwright.bridge.metering import current
from benchwright.core.errors import BenchwrightError
from benchwright.environments.environment import open_environment
from benchwright.environments.home import default_home

sys.path.append(str(Path(__file__).parents[1] / "bridge"))

from run_pieces import Told, verdicts_of

TASKS = 20
SAMPLES = "samples/Qwen2.5-Coder-7B-Instruct/full-complete.samples.jsonl.gz"
ROWS = "BigCodeBench-v0.1.0_hf.jsonl.gz"


@pytest.fixture(scope="module")
def real_data() -> Path:
    """The folder of real BigCodeBench data; tests that use it skip where it is absent."""
    beside_the_repository = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("BENCHWRIGHT_TEST_DATA", beside_the_repository)) / "bigcodebench"
    if not (folder / SAMPLES).is_file():
        pytest.skip(f"the real data is not at {folder}; set BENCHWRIGHT_TEST_DATA")
    return folder


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _workspace(folder: Path) -> tuple[Workspace, str]:
    """A home of its own, and the environment to use; skips when none is built."""
    home = default_home(os.environ)
    for name in ("bigcodebench-light", "bigcodebench"):
        try:
            open_environment(name, home)
        except BenchwrightError:
            continue
        folder.mkdir()
        (folder / "environments").symlink_to(home / "environments")
        return Workspace(home=folder), name
    pytest.skip("neither bigcodebench-light nor bigcodebench is built")


@pytest.mark.slow
@pytest.mark.namespaces
def test_real_replies_are_graded_as_their_file_is(real_data: Path, tmp_path: Path) -> None:
    """Twenty replies come to the same jobs and verdicts through `bw run` and `bw grade`, in homes of their own."""
    settled = sys.stdlib_module_names - {"random"}  # a program that draws lots may pass once and fail once
    standard = [row["task_id"] for row in _lines(real_data / ROWS) if set(ast.literal_eval(row["libs"])) <= settled]
    replies = {row["task_id"]: row["raw_solution"] for row in _lines(real_data / SAMPLES)}
    ids = tuple(standard[:TASKS])

    def answer(messages: list[ChatMessage], tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        output = ModelOutput.from_content("replay", replies[current.get().problem_id])
        output.usage = ModelUsage(input_tokens=100, output_tokens=100, total_tokens=200)
        return output

    workspace, environment = _workspace(tmp_path / "run home")
    options = RunOptions(
        benchmark="bigcodebench",
        model=ModelSettings(name="mockllm/replay", args={"custom_outputs": answer}),
        workers=2,
        data=real_data / ROWS,
        ids=ids,
        environment=environment,
        preflight=False,
        out=tmp_path / "run",
    )
    ran = run(plan_run(options, workspace), workspace, Told())
    workspace, environment = _workspace(tmp_path / "grade home")
    graded = grade(
        GradeOptions(
            benchmark="bigcodebench",
            samples=real_data / SAMPLES,
            workers=2,
            data=real_data / ROWS,
            ids=ids,
            environment=environment,
            scores=ALL_SCORES,
            extract=True,
            out=tmp_path / "graded",
        ),
        workspace,
        lambda progress: None,
    )
    assert verdicts_of(ran.grading.rows) == verdicts_of(graded.rows)
    assert len(graded.rows) == 3 * TASKS
    assert graded.run.executed > TASKS
    assert {row.verdict.outcome.value for row in graded.rows} >= {"passed", "failed"}
