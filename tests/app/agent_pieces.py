"""Runs of agents in which nothing is built, run or graded: a scripted model, workspaces and verdicts."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pytest

sys.path.append(str(Path(__file__).parents[1] / "bridge"))

import inspect_streams  # noqa: F401 - imported for what it does
from sandboxing_pieces import ScriptedWorkspace, ended

from benchwright.app.agents import harness as harnesses
from benchwright.app.agents import plan as planning
from benchwright.app.agents.harness import AgentProgress, RunHarness
from benchwright.app.agents.plan import AgentPlan, AgentRunOptions, plan_agent_run
from benchwright.app.agents.report import AgentRunReport
from benchwright.app.agents.run import run_agents
from benchwright.app.repositories import grading
from benchwright.app.repositories.patches import GradedPatch, PatchProgress
from benchwright.app.repositories.selection import Selection
from benchwright.app.repositories.setups import Selected
from benchwright.app.workspace import Workspace
from benchwright.bridge.models import ModelSettings
from benchwright.bridge.sandboxing.providers import NamespaceEnvironment
from benchwright.core.agents import Submission
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.errors import SandboxFault
from benchwright.core.repositories import RepositoryProblem
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.execution.repositories import Place
from benchwright.grading.repositories import Setup
from benchwright.sandboxes.base import Image, WorkspaceLimits
from benchwright.sandboxes.namespace import NamespaceSandbox
from benchwright.testing.agents import SUBMIT

IDS = ("own__little-1", "own__little-2", "own__little-3")
GOOD, BAD = (f"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-0\n+{word}\n" for word in ("good", "bad"))

PRICES = """\
schema = 1

[models."benchwright/scripted"]
input = 1.0
output = 10.0
cache_read = 0.1
as_of = "2026-01-01"
source = "made up"
"""


def write_rows(folder: Path) -> Path:
    """Rows of `IDS`."""
    path = folder / "rows.jsonl"
    rows = [
        {
            "instance_id": name,
            "repo": "own/little",
            "version": "1.0",
            "base_commit": "a" * 40,
            "problem_statement": f"Mend {name}.",
            "patch": GOOD,
            "test_patch": GOOD.replace("a/a", "a/t").replace("b/a", "b/t"),
            "FAIL_TO_PASS": ["t::a"],
            "PASS_TO_PASS": [],
            "created_at": "2024-05-01T10:00:00Z",
        }
        for name in IDS
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_script(folder: Path, turns: Mapping[str, Any]) -> Path:
    """Turns by problem, for the scripted model."""
    path = folder / "script.json"
    path.write_text(json.dumps(turns), encoding="utf-8")
    return path


def verdict_of(attempt: Attempt) -> Verdict:
    """By the words of the patch: `GOOD` resolves, anything else does not."""
    text = attempt.raw_text
    outcome, reason = Outcome.FAILED, Reason.TESTS_FAILED
    if attempt.ending is Ending.FAILED:
        outcome, reason = Outcome.FAULT, Reason.PROVIDER_ERROR
    elif not text:
        outcome, reason = Outcome.NO_ANSWER, Reason.EMPTY
    elif "+good" in text:
        outcome, reason = Outcome.PASSED, Reason.ALL_TESTS_PASSED
    passed = int(outcome is Outcome.PASSED)
    return Verdict(
        outcome=outcome, reason=reason, detail="", planned=1, passed=passed, judge_version=1, record_digest=None
    )


class ScriptedGrading:
    """Stands where patches are graded."""

    executed, reused = 0, 0

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pass

    def grade(self, attempts: Sequence[tuple[RepositoryProblem, Attempt]], *, control: bool) -> list[GradedPatch]:
        """A verdict for each."""
        return [
            GradedPatch(
                problem=problem,
                row=ResultRow(
                    problem_id=problem.id,
                    sample=attempt.sample,
                    score=Score.PATCH,
                    verdict=verdict_of(attempt),
                    job_digest=None,
                ),
                passed=None,
                failed=None,
            )
            for problem, attempt in attempts
        ]

    def controlled(self, problem: RepositoryProblem) -> bool:
        """Nothing is."""
        return False


class Workplace(ScriptedWorkspace):
    """A workspace in which nothing runs; a broken one gives no tree."""

    broken = False

    def written(self) -> tuple[str, ...] | None:
        """Nothing."""
        return ()

    def tree(self, path: str, into: BinaryIO) -> None:
        """Nothing, or a fault."""
        if self.broken:
            raise SandboxFault("the tree is gone")


@dataclass
class Workspaces:
    """Stands where the sandbox is made."""

    broken: bool = False
    """Whether no tree can be had of any."""
    unopenable: bool = False
    opened: int = 0

    def open_live(self, image: Image, limits: WorkspaceLimits, **options: Any) -> Workplace:
        """A workspace that answers every command with nothing."""
        if self.unopenable:
            raise SandboxFault("no workspace can be opened")
        workspace = Workplace()
        workspace.answers.extend(ended() for _ in range(20))
        workspace.broken = self.broken
        self.opened += 1
        return workspace


def setup_of(problem: RepositoryProblem) -> Setup:
    """A setup whose environment is only named."""
    return Setup(
        place=Place(sandbox=NamespaceSandbox(), image=Image(digest="e" * 64)),
        parser="pytest",
        runner="pytest",
        tests="pytest",
        install="true",
        needs_install=lambda paths: False,
        environ={},
        project_modules=frozenset(),
        official_script="",
    )


@dataclass
class Told:
    """Takes down what a run tells."""

    said: list[str] = field(default_factory=list)
    progresses: list[AgentProgress] = field(default_factory=list)
    gradings: list[PatchProgress] = field(default_factory=list)

    def say(self, text: str) -> None:
        """One line."""
        self.said.append(text)

    def progress(self, progress: AgentProgress) -> None:
        """How far it is."""
        self.progresses.append(progress)

    def grading(self, progress: PatchProgress) -> None:
        """How far the last grading is."""
        self.gradings.append(progress)


class AgentRuns:
    """Makes runs of agents below a folder; settings are those of `AgentRunOptions` and `Selection`, by name."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.monkeypatch = monkeypatch
        self.workspace = Workspace(home=folder / "home")
        self.rows = write_rows(folder)
        self.workspaces = Workspaces()
        self.patches: dict[str, str] = dict.fromkeys(IDS, GOOD)
        self.unavailable: dict[str, str] = {}
        self.script: dict[str, Any] = {"*": [SUBMIT]}
        self.told = Told()

    def nothing_is_built(self) -> "AgentRuns":
        """Put the scripted parts in the places of those that need environments."""
        patch = self.monkeypatch.setattr
        patch(planning, "select", self._select)
        patch(grading, "select", self._select)
        patch(harnesses, "PatchGrading", ScriptedGrading)
        patch(grading, "PatchGrading", ScriptedGrading)
        patch(NamespaceEnvironment, "sandbox", classmethod(lambda cls: self.workspaces))
        patch(RunHarness, "submission", lambda harness, problem, tree: Submission(patch=self.patches[problem.id]))
        return self

    def _select(self, selection: Selection, workspace: Workspace, *, only: Iterable[str] | None = None) -> Selected:
        problems = selection.load()
        setups = {one.id: setup_of(one) for one in problems.problems if one.id not in self.unavailable}
        return Selected(problems=problems, setups=setups, unavailable=self.unavailable)

    def options(self, **settings: Any) -> AgentRunOptions:
        """Options of a run."""
        names = Selection.__dataclass_fields__.keys() & settings.keys() - {"limits"}
        of_selection = {name: settings.pop(name) for name in names}
        model = {"name": "benchwright/scripted", "args": {"script": str(write_script(self.folder, self.script))}}
        return AgentRunOptions(
            **{
                "selection": Selection(**{"benchmark": "repositories", "data": self.rows, **of_selection}),
                "model": ModelSettings(**{**model, **settings.pop("of_model", {})}),
                "scaffold": "bash-only",
                "at_once": 1,
                "preflight": False,
                "out": self.folder / "out",
                **settings,
            }
        )

    def plan(self, **settings: Any) -> AgentPlan:
        """A run that can begin."""
        return plan_agent_run(self.options(**settings), self.workspace)

    def run(self, **settings: Any) -> AgentRunReport:
        """Plan and carry out."""
        return run_agents(self.plan(**settings), self.workspace, self.told)

    def lines(self, name: str) -> list[dict[str, Any]]:
        """A file of JSON lines in the run's folder."""
        return [json.loads(line) for line in (self.folder / "out" / name).read_text("utf-8").splitlines()]


def failing_for(monkeypatch: pytest.MonkeyPatch, *problems: str) -> Callable[[], None]:
    """Let the scripted model's provider fail for some problems; gives what mends it."""
    from benchwright.bridge.accounts import current_account
    from benchwright.bridge.scripted import ScriptedAPI

    generate, broken = ScriptedAPI.generate, set(problems)

    async def fail(self: ScriptedAPI, *arguments: Any, **named: Any) -> Any:
        if current_account.get().key.problem_id in broken:
            raise RuntimeError("the server is on fire")
        return await generate(self, *arguments, **named)

    monkeypatch.setattr(ScriptedAPI, "generate", fail)
    return broken.clear
