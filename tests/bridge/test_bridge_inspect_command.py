"""Inspect's own command on the tasks that benchwright registers: ``inspect eval benchwright/starter_complete``."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from app_pieces import PROBLEMS, WRONG, private_home, run_grading
from inspect_ai.log import read_eval_log
from run_pieces import MODEL, Runs, fenced, problem_of, reference, unexecuted, verdicts_of
from scripted_server import Answer, Server, scripted_server

from benchwright.bridge import registry
from benchwright.bridge.grader import ALL_SCORES

pytestmark = pytest.mark.skipif(
    not any(entry.name == "benchwright" for entry in entry_points(group="inspect_ai")),
    reason="benchwright is not installed, so Inspect does not find its tasks",
)

Evaluate = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def evaluate(tmp_path: Path) -> Evaluate:
    """Calls Inspect's command in the temporary folder."""

    def run(server: Server, home: Path, *options: object, task: str = "starter_complete") -> Any:
        environment = os.environ | {
            "BENCHWRIGHT_HOME": str(home),
            "NO_COLOR": "1",
            "FAKE_API_KEY": "a key",
            "FAKE_BASE_URL": server.url,
        }
        command = [sys.executable, "-m", "inspect_ai", "eval", f"benchwright/{task}", "--model", MODEL]
        return subprocess.run(
            [*command, "--display", "plain", "--log-dir", str(tmp_path / "logs"), *map(str, options)],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    return run


def mixed(body: dict[str, Any], number: int) -> Answer:
    """A right, a wrong, an unreadable and a refused answer."""
    answers = [
        reference(body),
        Answer(text=fenced(WRONG)),
        Answer(text="no code from me"),
        Answer(text="I cannot help.", finish="content_filter"),
    ]
    return answers[PROBLEMS.index(problem_of(body))]


@pytest.mark.namespaces
def test_inspects_own_command_grades_as_a_run_does(
    evaluate: Evaluate, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same prompts are sent, the same jobs executed and the same verdicts logged as by `bw run`."""
    with scripted_server(mixed) as server:
        done = evaluate(server, home, "--limit", 4)
        asked = sorted(server.prompts)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (tmp_path / "logs").glob("*.eval")
    log = read_eval_log(str(path))
    assert (log.status, log.eval.task) == ("success", "starter_complete")
    unexecuted(monkeypatch)  # so that whatever the run lacks in the store would show
    with scripted_server(mixed) as server:
        report = Runs(tmp_path, home, monkeypatch).run(server, limit=4)
        assert sorted(server.prompts) == asked
    own = verdicts_of(report.grading.rows)
    assert report.grading.run.executed == 0  # its records are those of Inspect's command
    logged = {
        (str(sample.id), 0, score): (row["outcome"], row["reason"], row["job"])
        for sample in log.samples or []
        for score, row in (sample.scores or {})["verdicts"].metadata["verdicts"].items()  # type: ignore[index]
    }
    assert logged == {
        key: (outcome, reason, None if job == "None" else job) for key, (outcome, reason, *_, job) in own.items()
    }
    ids = tuple(problem.id for problem in PROBLEMS[:4])
    graded = run_grading(home, path, tmp_path / "graded", ids=ids, scores=ALL_SCORES)
    assert verdicts_of(graded.rows) == own
    left = [entry for entry in Path("/proc").glob("[0-9]*/cmdline") if _runs_in(entry, home)]
    assert left == []


def _runs_in(cmdline: Path, home: Path) -> bool:
    try:
        return str(home / "environments").encode() in cmdline.read_bytes()
    except OSError:
        return False


@pytest.mark.parametrize(
    ("built", "options", "words"),
    [
        (False, [], "The environment starter is not built; build it with `bw env build starter`."),
        (True, ["-T", "mode=poetic"], "'poetic' is not a valid Mode; see the task's parameters"),
    ],
)
def test_what_cannot_be_run_is_a_plain_error(
    evaluate: Evaluate, tmp_path: Path, built: bool, options: list[str], words: str
) -> None:
    """An environment that is not built, or a mode that is none, is said without a traceback, and nothing is asked."""
    home = private_home(tmp_path / "home") if built else tmp_path / "nothing"
    with scripted_server(reference) as server:
        done = evaluate(server, home, *options)
        assert server.requests == []
    assert done.returncode == 1
    assert words in " ".join((done.stdout + done.stderr).split())
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("name", ["starter_complete", "starter_instruct"])
@pytest.mark.parametrize("options", [{}, {"mode": "base"}, {"prefill": True}])
def test_tasks_are_those_of_a_run(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, Any]
) -> None:
    """A task has one sample per problem, with the prompt, the stops and the digest of its variant and mode."""
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(home))
    task = getattr(registry, name)(**options)
    metadata = task.metadata
    assert len(task.dataset) == len(PROBLEMS)
    assert (metadata["variant"], metadata["mode"]) == (name.partition("_")[2], options.get("mode", "chat"))
    assert metadata["prefill"] is options.get("prefill", False)
    assert bool(task.config.stop_seqs) == bool(options)
    assert [sample.id for sample in task.dataset] == [problem.id for problem in PROBLEMS]
    assert all(sample.metadata["problem_id"] == sample.id for sample in task.dataset)
    roles = [message.role for message in task.dataset[0].input]
    assert roles == ["user", "assistant"] if options.get("prefill") else ["user"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A benchwright home with built environments and no records."""
    return private_home(tmp_path / "home")
