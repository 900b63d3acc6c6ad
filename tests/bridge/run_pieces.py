"""Runs of the starter benchmark against a scripted server: what the tests of ``bw run`` begin with."""

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import inspect_streams  # noqa: F401 - imported for what it does
import pytest
from app_pieces import PROBLEMS, ScriptedFactory
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import ModelAPI
from scripted_server import Answer, Server, prompt_of
from tenacity import wait_none

from benchwright.app.preflight import Preflight
from benchwright.app.run import Forecast, RunReport, run
from benchwright.app.runplan import CallSettings, ModelSettings, RunOptions, RunPlan, plan_run
from benchwright.app.workspace import Workspace
from benchwright.core.budget import Budget
from benchwright.core.problems import FunctionProblem
from benchwright.core.runs import ResultRow
from benchwright.store.replies import NAME, CallRecord, ReplyJournal

MODEL = "openai-api/fake/m"


def problem_of(body: dict[str, Any]) -> FunctionProblem:
    """The problem that a request asks."""
    prompt = prompt_of(body)
    return next(problem for problem in PROBLEMS if any(text.strip() in prompt for text in problem.prompts.values()))


def fenced(code: str, language: str = "python") -> str:
    """Code as chat models write it."""
    return f"Here you are:\n\n```{language}\n{code}\n```\n\nThat is all."


def reference(body: dict[str, Any], number: int = 0) -> Answer:
    """The reference as a chat model would write it."""
    return Answer(text=fenced(problem_of(body).reference))


def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inspect repeats calls at once, instead of after three seconds and more."""
    monkeypatch.setattr(ModelAPI, "retry_wait", lambda self: wait_none())


def unexecuted(monkeypatch: pytest.MonkeyPatch) -> ScriptedFactory:
    """Runs execute nothing; every job passes unless the script is changed."""
    factory = ScriptedFactory()
    monkeypatch.setattr("benchwright.app.run.LocalScheduler", factory)
    monkeypatch.setattr("benchwright.app.grading.LocalScheduler", factory)
    return factory


@dataclass
class Told:
    """Takes down what a run tells."""

    said: list[str] = field(default_factory=list)
    preflights: list[Preflight] = field(default_factory=list)
    forecasts: list[Forecast] = field(default_factory=list)
    graded: list[tuple[int, int]] = field(default_factory=list)
    first_graded: threading.Event = field(default_factory=threading.Event)

    def say(self, text: str) -> None:
        """One line."""
        self.said.append(text)

    def preflight(self, preflight: Preflight, forecast: Forecast) -> None:
        """The first answers."""
        self.preflights.append(preflight)
        self.forecasts.append(forecast)

    def progress(self, done: int, total: int) -> None:
        """Samples graded."""
        self.graded.append((done, total))
        self.first_graded.set()


_SETTINGS: dict[type, tuple[str, ...]] = {
    ModelSettings: ("name", "base_url", "args", "mode"),
    CallSettings: ("max_connections", "max_retries", "timeout"),
    Budget: ("max_tokens", "max_cost"),
}


class Runs:
    """Makes runs in one benchwright home; the server is the one named by the environment, unless an address is given.

    Options are those of `RunOptions`, `ModelSettings`, `CallSettings` and `Budget`, by name.  There is no preflight
    unless it is asked for.
    """

    def __init__(self, folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.workspace = Workspace(home=home)
        self._monkeypatch = monkeypatch
        monkeypatch.setenv("FAKE_API_KEY", "a key")

    def plan(self, server: Server, out: str = "out", **options: Any) -> RunPlan:
        """A run that can begin."""
        self._monkeypatch.setenv("FAKE_BASE_URL", server.url)
        given: dict[str, Any] = {"name": MODEL, "preflight": False, "workers": 1, "timeout": 60, **options}
        parts = {
            kind: kind(**{name: given.pop(name) for name in names if name in given})
            for kind, names in _SETTINGS.items()
        }
        return plan_run(
            RunOptions(
                benchmark="starter",
                model=parts[ModelSettings],
                calls=parts[CallSettings],
                budget=parts[Budget],
                out=self.folder / out,
                **given,
            ),
            self.workspace,
        )

    def run(self, server: Server, out: str = "out", told: Told | None = None, **options: Any) -> RunReport:
        """Plan and carry out."""
        return run(self.plan(server, out, **options), self.workspace, told or Told())

    def calls(self, out: str = "out") -> list[CallRecord]:
        """All calls that the journal of a run has."""
        with ReplyJournal(self.folder / out / NAME, read_only=True) as journal:
            return journal.calls

    def answered(self, out: str = "out") -> set[tuple[str, int]]:
        """What has a reply in the journal of a run."""
        with ReplyJournal(self.folder / out / NAME, read_only=True) as journal:
            return set(journal.answered())

    def manifest(self, out: str = "out", name: str = "manifest.json") -> dict[str, Any]:
        """A JSON file of a run's folder."""
        document: dict[str, Any] = json.loads((self.folder / out / name).read_text("utf-8"))
        return document

    def samples(self, out: str = "out") -> list[dict[str, Any]]:
        """Rows of the sample file of a run."""
        text = (self.folder / out / "samples.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]


def log_of(report: RunReport) -> EvalLog:
    """The log that a run wrote last."""
    return read_eval_log(str(report.log))


def verdicts_of(rows: Iterable[ResultRow]) -> dict[tuple[str, int, str], tuple[str, ...]]:
    """All that a verdict says, by problem, sample and score; not how long it took."""
    return {
        (row.problem_id, row.sample, row.score.value): (
            row.verdict.outcome.value,
            row.verdict.reason.value,
            str(row.verdict.passed),
            str(row.verdict.planned),
            row.strategy,
            *row.notes,
            str(row.job_digest),
        )
        for row in rows
    }


def reasons(report: RunReport, score: str = "extracted") -> dict[str, str]:
    """Outcome and reason by problem, of samples numbered 0."""
    return {
        row.problem_id: f"{row.verdict.outcome.value} {row.verdict.reason.value}"
        for row in report.grading.rows
        if row.score.value == score and row.sample == 0
    }


Script = Callable[[dict[str, Any], int], Answer]
