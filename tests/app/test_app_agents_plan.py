"""What a run of an agent is settled to be, and what it is refused for before anything is spent."""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from agent_pieces import IDS, AgentRuns
from inspect_ai.model import Model

from benchwright.app.agents import plan as planning
from benchwright.app.agents.plan import plan_agent_run
from benchwright.app.agents.run import dry_agent_run
from benchwright.app.runfile import RunFile
from benchwright.bridge.scaffolds.base import PROGRAM_ORIGIN, ReadyScaffold, ScaffoldSettings
from benchwright.bridge.scaffolds.registry import SCAFFOLDS
from benchwright.core.agents import AgentLimits, NativeTools
from benchwright.core.budget import Budget
from benchwright.core.errors import UnknownNameError, UsageError
from benchwright.core.evaluation import EVALUATION_VERSION, Evaluation
from benchwright.core.repositories import RepositoryLimits
from benchwright.store.folder import ResultsFolder

SPEC = """\
schema = 1
repo = "own/little"
source = "written for these tests"

[defaults]
python = "3.12"
packages = []
install = "true"
requirement = ""
editable = true
test = "pytest -rA"
runner = "pytest"

[[block]]
versions = ["1.0"]
"""


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sandbox": "subprocess"}, "Agents work in namespace or docker, and subprocess was given"),
        ({"images": "org/{id}:1", "sandbox": "docker"}, "not in pulled images; leave --images out"),
        ({"samples": 3, "temperature": 0.0}, "3 samples at temperature 0 are nearly the same"),
        ({"limits": AgentLimits(cost=2.0)}, "2 USD cannot be kept, because the price of benchwright/scripted is not"),
        ({"budget": Budget(max_cost=3.0)}, "3 USD cannot be kept"),
        ({"of_model": {"name": "benchwright/little-base"}}, "as a base model (its name says that it is a base model)"),
        ({"of_model": {"name": "scripted"}}, "A model is named provider/model"),
        ({"of_model": {"name": "nobody/model", "args": {}}}, "The model nobody/model cannot be opened"),
        ({"of_model": {"args": {}}}, "needs -M script=FILE"),
        ({"generation": {"max_tokenz": 5}}, "max_tokenz"),
        ({"generation": {"temperature": 0.5}}, "use --temperature"),
        ({"generation": {"max_tokens": 5}}, "use --reply-tokens"),
        ({"generation": {"top_p": "all"}}, "top_p cannot be 'all'"),
        ({"ids": ("own__little-9",)}, "own__little-9"),
        ({"benchmark": "swebench-verfied"}, "swebench-verified"),
        ({"scaffold": "lop"}, "loop"),
        ({"settings": ScaffoldSettings(native_tools=NativeTools.ON)}, "native"),
        ({"prices": Path("/nonexistent/prices.toml")}, "The price file /nonexistent/prices.toml cannot be read"),
    ],
)
def test_what_would_fail_later_is_refused_now(runs: AgentRuns, settings: dict[str, Any], words: str) -> None:
    """In one plain sentence that says what to do; nothing is written."""
    with pytest.raises(UsageError) as refused:
        runs.plan(**settings)
    assert words in str(refused.value) and "\n" not in str(refused.value)
    assert not (runs.folder / "out").exists()


def test_an_unknown_scaffold_is_told_with_those_there_are(runs: AgentRuns) -> None:
    """A name that is nearly right is found."""
    with pytest.raises(UnknownNameError, match=r"scaffold.*lop.*loop"):
        runs.plan(scaffold="lop")


def test_environments_that_are_not_built_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that builds them."""
    specs = tmp_path / "specs"
    specs.mkdir()
    (specs / "little.toml").write_text(SPEC, encoding="utf-8")
    with pytest.raises(UsageError, match="2 of 2 instances are not built") as refused:
        AgentRuns(tmp_path, monkeypatch).plan(specs=specs, ids=IDS[:2])
    assert "`bw env build repositories" in str(refused.value) and IDS[0] in str(refused.value)


def test_a_run_of_nothing_is_refused(runs: AgentRuns) -> None:
    """When no instance can be had on this machine."""
    runs.unavailable = dict.fromkeys(IDS, "no Python 3.99")
    with pytest.raises(UsageError, match="None of the chosen instances can run on this machine"):
        runs.plan()


def test_a_model_that_is_said_to_chat_is_taken(runs: AgentRuns) -> None:
    """Whatever its name says."""
    from benchwright.core.prompts import Mode

    assert runs.plan(of_model={"name": "benchwright/little-base", "mode": Mode.CHAT}).opened.mode is Mode.CHAT


def test_samples_without_a_temperature_are_taken(runs: AgentRuns) -> None:
    """It is the provider's own then."""
    assert len(runs.plan(samples=3).keys) == 9
    assert len(runs.plan(samples=3, temperature=0.5).keys) == 9
    assert len(runs.plan(temperature=0.0).keys) == 3


def test_repetitions_follow_one_another(runs: AgentRuns) -> None:
    """Every problem is worked on once before any is again; those that cannot be had are left out and named."""
    runs.unavailable = {IDS[1]: "no Python 3.99"}
    plan = runs.plan(samples=2)
    assert [tuple(key) for key in plan.keys] == [(IDS[0], 0), (IDS[2], 0), (IDS[0], 1), (IDS[2], 1)]
    assert plan.facts()["unavailable"] == {IDS[1]: "no Python 3.99"}


def test_only_the_first_problems(runs: AgentRuns) -> None:
    """Named in the run's identity, as chosen ones are."""
    plan = runs.plan(limit=2)
    assert [key.problem_id for key in plan.keys] == list(IDS[:2])
    assert plan.identity["ids"] == list(IDS[:2]) == runs.plan(ids=IDS[:2]).identity["ids"]
    assert plan.run_id == runs.plan(ids=IDS[:2]).run_id != runs.plan().run_id
    assert runs.plan().identity["ids"] is None


def test_the_same_command_is_the_same_run(runs: AgentRuns, prices: Path) -> None:
    """Its description is read back as it was written, whatever settings there are."""
    settings: dict[str, Any] = {
        "temperature": 0.1,
        "reply_tokens": 500,
        "generation": {"stop_seqs": ["é", "x"], "reasoning_effort": "high", "seed": 7},
        "limits": AgentLimits(uncached_tokens=None, turns=9, wall_seconds=0.3, cost=1.1),
        "samples": 2,
        "prices": prices,
        "settings": ScaffoldSettings(native_tools=NativeTools.OFF, command_seconds=9),
    }
    plan = runs.plan(**settings)
    folder = ResultsFolder(plan.folder)
    with folder.locked():
        RunFile(folder, plan).begin()
    again = runs.plan(**settings)
    RunFile(folder, again).refuse_changed()
    assert again.run_id == plan.run_id and json.loads(json.dumps(plan.identity)) == plan.identity


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"samples": 2}, "samples"),
        ({"temperature": 0.5}, "temperature"),
        ({"reply_tokens": 900}, "reply_tokens"),
        ({"limits": AgentLimits(turns=5)}, "agent_limits"),
        ({"scaffold": "loop"}, "scaffold"),
        ({"generation": {"seed": 1}}, "generation"),
        ({"include_ignored": True}, "include_ignored"),
        ({"settings": ScaffoldSettings(command_seconds=7)}, "command_seconds"),
        ({"settings": ScaffoldSettings(native_tools=NativeTools.OFF)}, "native_tools"),
        ({"limit": 1}, "ids"),
    ],
)
def test_another_setting_is_another_run(runs: AgentRuns, settings: dict[str, Any], name: str) -> None:
    """Its folder is not gone on with, and the difference is said."""
    plan = runs.plan()
    folder = ResultsFolder(plan.folder)
    with folder.locked():
        RunFile(folder, plan).begin()
    with pytest.raises(UsageError, match="holds a run with other settings") as refused:
        dry_agent_run(runs.plan(**settings))
    assert re.search(rf"\b{name}(\.\w+)? was ", str(refused.value))


@pytest.mark.parametrize(
    "settings", [{"at_once": 9}, {"workers": 3}, {"budget": Budget(max_tokens=5)}, {"preflight": True}]
)
def test_how_a_run_is_carried_out_is_no_part_of_what_it_is(runs: AgentRuns, settings: dict[str, Any]) -> None:
    """A larger cap or more at once goes on with the same run."""
    assert runs.plan(**settings).run_id == runs.plan().run_id


def test_a_program_that_is_not_here_is_fetched_for_a_run_only(runs: AgentRuns) -> None:
    """What is told and asked for reaches the scaffold; a run is the same whether or not its program is here yet."""
    told: list[str] = []
    bare = SCAFFOLDS.get("bash-only")

    class Fetching:
        name, tools, agent = bare.name, bare.tools, bare.agent

        def ready(self, model: Model, settings: ScaffoldSettings) -> ReadyScaffold:
            if settings.fetch:
                settings.say("fetching it")
            facts = {"program": "it 1", PROGRAM_ORIGIN: "pinned" if settings.fetch else "not here"}
            return dataclasses.replace(bare.ready(model, settings), facts=facts)

    runs.monkeypatch.setattr(planning, "SCAFFOLDS", {"bash-only": Fetching()})
    dry = plan_agent_run(runs.options(), runs.workspace, fetch=False, say=told.append)
    assert dry.ready.facts[PROGRAM_ORIGIN] == "not here" and told == []
    plan = plan_agent_run(runs.options(), runs.workspace, say=told.append)
    assert plan.ready.facts[PROGRAM_ORIGIN] == "pinned" and told == ["fetching it"]
    assert plan.identity == dry.identity and plan.folder == dry.folder
    assert plan.identity["scaffold_facts"] == {"program": "it 1"}


def test_no_secret_is_written_down(runs: AgentRuns) -> None:
    """Neither in the identity nor in the facts."""
    plan = runs.plan(of_model={"base_url": "http://me:sesame-sesame@127.0.0.1:1/v1?key=x"})
    assert "sesame" not in json.dumps([plan.identity, plan.facts()])
    assert plan.facts()["base_url"] == "http://127.0.0.1:1/v1"


def test_the_evaluation_says_what_may_be_ranked_together(runs: AgentRuns) -> None:
    """Version, scaffold, provider, limits and forms of tools."""
    plan = runs.plan(samples=2)
    evaluation = Evaluation.from_plain(plan.identity["evaluation"])
    assert (evaluation.version, evaluation.scaffold, evaluation.provider) == (
        EVALUATION_VERSION,
        "bash-only",
        "benchwright",
    )
    assert (evaluation.limits, evaluation.samples, evaluation.tools) == (AgentLimits(), 2, ())


def test_an_agent_is_told_issue_and_budget(runs: AgentRuns) -> None:
    """One template for all problems."""
    plan = runs.plan(limits=AgentLimits(uncached_tokens=12_345))
    first, second = (plan.prompt(problem) for problem in plan.selected.available[:2])
    assert f"Mend {IDS[0]}." in first.text and "12,345" in first.text
    assert first.template_digest == second.template_digest == plan.identity["template_digest"]


def test_a_workspace_may_use_what_a_grading_may(runs: AgentRuns) -> None:
    """Memory, processes and disk."""
    limits = runs.options().selection.workspace_limits
    graded = RepositoryLimits()
    assert (limits.memory_bytes, limits.processes) == (graded.memory_bytes, graded.processes)
    assert limits.scratch_bytes == graded.scratch_bytes


def test_a_folder_is_named_after_model_benchmark_and_scaffold(runs: AgentRuns) -> None:
    """With some of its digest, so that two runs do not meet."""
    first, second = runs.plan(out=None).folder, runs.plan(out=None, samples=2).folder
    assert first.parts[0] == "benchwright-results" and len(first.parts) == 2 and first != second
    assert first.name.startswith("benchwright-scripted-repositories-bash-only-")
