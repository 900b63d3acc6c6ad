"""An agent's way through a sample in real runs of Inspect: every ending, what is kept, and what is begun anew."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.log import EvalSample, read_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import SandboxEnvironmentSpec
from sandboxing_pieces import CONFIG, ScriptedWorkspace, ended
from scaffold_pieces import PRICE, USAGE, bash, playing, turn

from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.accounts import Account, current_account
from benchwright.bridge.agent_metering import AgentMeter
from benchwright.bridge.agents import (
    ATTEMPT,
    SANDBOX_TRIES,
    AgentSample,
    Work,
    agent_task,
    attempt_in,
    graded_attempt,
    sample_name,
    sandbox_spec,
)
from benchwright.bridge.models import OpenModel
from benchwright.bridge.running import CallSettings, run_task
from benchwright.bridge.sandboxing.config import WorkspaceConfig
from benchwright.bridge.sandboxing.providers import NAMESPACE, NamespaceEnvironment
from benchwright.bridge.scaffolds.base import ReadyScaffold, ScaffoldSettings
from benchwright.bridge.scoring import NOT_ASKED
from benchwright.core.agents import Action, AgentAttempt, AgentLimits, Finding, FindingKind, LeftOut, Submission
from benchwright.core.attempts import Ending
from benchwright.core.budget import Budget, Ledger, Price, TokenUsage
from benchwright.core.errors import SandboxFault
from benchwright.core.prompts import Mode, Prompt
from benchwright.core.repositories import WORK, RepositoryProblem
from benchwright.sandboxes.base import Image, WorkspaceLimits

PROBLEM = RepositoryProblem(
    benchmark="made-up",
    id="own__little-1",
    repo="own/little",
    version="1.0",
    base_commit="0" * 40,
    environment_commit="0" * 40,
    issue="Mend it.",
    hints="",
    created_at="",
    reference_patch="",
    test_patch="",
    fail_to_pass=("t",),
    pass_to_pass=(),
    tags=("own/little",),
    digest="1" * 64,
)
KEY = SampleKey(PROBLEM.id, 0)
FINDING = Finding(kind=FindingKind.NETWORK, turn=1, excerpt="curl")
Act = Callable[[AgentState, Account], Awaitable[AgentState]]


class Workspace(ScriptedWorkspace):
    """A workspace in which nothing runs."""

    faults: int = 0

    def written(self) -> tuple[str, ...] | None:
        """One path."""
        return ("/etc/passwd",)

    def tree(self, path: str, into: BinaryIO) -> None:
        """The path itself, unless the workspace is broken."""
        if self.faults:
            raise SandboxFault("the tree is gone")
        super().tree(path, into)


@dataclass
class Workspaces:
    """Stands where the sandbox is made; the first ones may be broken."""

    broken: int = 0
    unclosable: int = 0
    opened: list[Workspace] = field(default_factory=list)

    def open_live(self, image: Image, limits: WorkspaceLimits, **options: Any) -> Workspace:
        """A workspace that answers every command."""
        workspace = Workspace(unclosable=self.unclosable)
        workspace.answers.extend(ended(stdout=b"fine") for _ in range(10))
        workspace.faults = len(self.opened) < self.broken
        self.opened.append(workspace)
        return workspace


@dataclass
class Takes:
    """The harness of these tests: takes down what it is told."""

    submission_is: Submission = field(default_factory=lambda: Submission(patch="the patch\n"))
    told: list[tuple[str, Any]] = field(default_factory=list)
    actions: Sequence[Action] = ()
    threads: set[int] = field(default_factory=set)
    works_is: bool = False

    def submission(self, problem: RepositoryProblem, tree: BinaryIO) -> Submission:
        """The one given, when the tree is there."""
        self.threads.add(threading.get_ident())
        self._tell("submission", (problem.id, tree.read()))
        return self.submission_is

    def findings(
        self, problem: RepositoryProblem, actions: Sequence[Action], patch: str, written: Sequence[str] | None
    ) -> tuple[Finding, ...]:
        """Always one."""
        self._tell("findings", (patch, written))
        self.actions = actions
        return (FINDING,)

    def works(self, problem: RepositoryProblem) -> bool:
        """As the test has it."""
        self._tell("works", problem.id)
        return self.works_is

    def fixes(self) -> tuple[str, ...]:
        """Always one."""
        return ("a-fix",)

    def begun(self, key: SampleKey) -> None:
        """Taken down."""
        self._tell("begun", key)

    def finished(self, attempt: AgentAttempt) -> None:
        """Taken down."""
        self._tell("finished", attempt)

    def broke(self, key: SampleKey, words: str) -> None:
        """Taken down."""
        self._tell("broke", words)

    def put_off(self, key: SampleKey) -> None:
        """Taken down."""
        self._tell("put_off", key)

    def _tell(self, what: str, details: Any) -> None:
        self.told.append((what, details))

    @property
    def names(self) -> list[str]:
        """What was told, in order."""
        return [name for name, _ in self.told]

    @property
    def attempt(self) -> AgentAttempt:
        """The one that was finished."""
        (found,) = (details for name, details in self.told if name == "finished")
        assert isinstance(found, AgentAttempt)
        return found


@dataclass(frozen=True)
class Scaffold:
    """Lets a function act."""

    act: Act
    name: str = "scripted"
    tools: tuple[str, ...] = ()

    def ready(self, model: Any, settings: ScaffoldSettings) -> ReadyScaffold:
        """Nothing is needed."""
        return ReadyScaffold(facts={"program": "2"}, forms={}, shared={}, limit_command=False)

    def agent(self, settings: ScaffoldSettings, account: Account) -> Agent:
        """The function as an agent."""

        @agent(name=self.name)
        def make() -> Agent:
            async def execute(state: AgentState) -> AgentState:
                return await self.act(state, account)

            return execute

        return make()


def graded() -> Scorer:
    """A scorer that sees what the patches' own would grade."""

    @scorer(metrics=[mean()], name="graded")
    def make() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            if NOT_ASKED in state.metadata:
                return Score.unscored(reason="not_asked", explanation=state.metadata[NOT_ASKED])
            attempt, of_it = attempt_in(state, "m")
            return Score(value=1, explanation=f"{attempt.ending} {of_it.raw_text!r}")

        return score

    return make()


@dataclass
class Went:
    """How a run of one sample went."""

    harness: Takes
    meter: AgentMeter
    sample: EvalSample
    workspaces: Workspaces

    @property
    def texts(self) -> list[str]:
        """The conversation in the log."""
        return [f"{message.role}: {message.text}" for message in self.sample.messages]


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Went]:
    """Lets a function act in one sample."""

    def run(
        act: Act,
        outputs: Any = (),
        *,
        limits: AgentLimits | None = None,
        budget: Budget | None = None,
        price: Price | None = None,
        harness: Takes | None = None,
        broken: int = 0,
        unclosable: int = 0,
        spec: SandboxEnvironmentSpec | None = None,
    ) -> Went:
        workspaces = Workspaces(broken=broken, unclosable=unclosable)
        monkeypatch.setattr(NamespaceEnvironment, "sandbox", classmethod(lambda cls: workspaces))
        harness = harness or Takes()
        scaffold, settings = Scaffold(act), ScaffoldSettings()
        model = playing(outputs)
        meter = AgentMeter(Ledger(budget or Budget(), price), record=lambda call: None)
        meter.attach(model)
        work = Work(
            scaffold=scaffold,
            ready=scaffold.ready(model, settings),
            settings=settings,
            limits=limits or AgentLimits(),
            price=price,
            meter=meter,
            harness=harness,
            problems={PROBLEM.id: PROBLEM}.__getitem__,
        )
        prompt = Prompt(text="Mend it.", mode=Mode.CHAT, template_digest="0" * 64)
        sample = AgentSample(
            problem=PROBLEM,
            sample=0,
            prompt=prompt,
            sandbox=spec or SandboxEnvironmentSpec(NAMESPACE, CONFIG),
            name=sample_name(PROBLEM.id, 0, 1),
        )
        task = agent_task(
            [sample], name="little", work=work, score=graded(), generation={}, metadata={"run_id": "0" * 16}
        )
        opened = OpenModel(model=model, name="mockllm/model", served_by="mockllm", mode=Mode.CHAT, mode_reason="asked")
        calls = CallSettings(max_retries=0)
        log = run_task(task, opened, calls, tmp_path / "logs", samples_at_once=1, sample_tries=SANDBOX_TRIES)
        (found,) = read_eval_log(str(log.path)).samples or []
        return Went(harness, meter, found, workspaces)

    return run


async def one_turn(state: AgentState) -> ModelOutput:
    """Ask once, and take the answer down."""
    output = await get_model().generate(state.messages)
    state.messages.append(output.message)
    state.output = output
    return output


async def hand_in(state: AgentState, account: Account) -> AgentState:
    """One turn with a command, and the work is handed in."""
    output = await one_turn(state)
    for call in output.message.tool_calls or ():
        state.messages.append(ChatMessageTool(content="seen", tool_call_id=call.id, function=call.function))
    account.facts["version"] = "7"
    account.end(Ending.SUBMITTED)
    return state


def test_a_submission_is_taken_kept_and_then_graded(go: Callable[..., Went]) -> None:
    """The tree is read before the workspace is closed, the attempt is kept before it is graded."""
    went = go(hand_in, [turn(bash("curl x"))], price=PRICE)
    assert went.harness.names == ["begun", "submission", "findings", "finished"]
    assert dict(went.harness.told)["submission"] == (PROBLEM.id, WORK.encode())
    assert dict(went.harness.told)["findings"] == ("the patch\n", ("/etc/passwd",))
    assert went.harness.actions == (Action(turn=1, tool="bash", text="curl x", output="seen"),)
    attempt = went.harness.attempt
    assert (attempt.ending, attempt.turns, attempt.tool_calls) == (Ending.SUBMITTED, 1, 1)
    assert (attempt.problem_id, attempt.sample, attempt.log_sample) == (*KEY, PROBLEM.id)
    assert attempt.usage == USAGE and attempt.cost == PRICE.cost(USAGE)
    assert attempt.facts == {"program": "2", "version": "7"}
    assert attempt.findings == (FINDING,) and attempt.fixes == ("a-fix",)
    assert went.workspaces.opened[0].closings >= 1
    assert (went.sample.scores or {})["graded"].explanation == "submitted 'the patch\\n'"
    assert AgentAttempt.from_plain(went.sample.metadata[ATTEMPT]) == attempt


def test_a_workspace_that_cannot_be_closed_costs_no_submission(go: Callable[..., Went]) -> None:
    """The attempt is kept and graded, and closing is tried again."""
    went = go(hand_in, [turn()], unclosable=1)
    assert went.harness.names == ["begun", "submission", "findings", "finished"]
    assert (went.sample.scores or {})["graded"].explanation == "submitted 'the patch\\n'"
    assert went.workspaces.opened[0].closings >= 2


def test_the_harness_does_not_hold_up_other_samples(go: Callable[..., Went]) -> None:
    """A submission is made in a thread of its own, not in the event loop's."""
    went = go(hand_in, [turn()])
    assert threading.get_ident() not in went.harness.threads


def test_an_agent_that_says_nothing_of_its_end_gave_up(go: Callable[..., Went]) -> None:
    """It came back, so what it left is graded."""

    async def act(state: AgentState, account: Account) -> AgentState:
        await one_turn(state)
        return state

    attempt = go(act, [turn()]).harness.attempt
    assert attempt.ending is Ending.GAVE_UP and "without saying how" in attempt.ending_detail
    assert attempt.submission.patch == "the patch\n"


def test_what_was_left_when_the_time_was_over_is_graded(go: Callable[..., Went]) -> None:
    """The agent is stopped where it is; its conversation and its tree stay."""

    async def act(state: AgentState, account: Account) -> AgentState:
        await one_turn(state)
        await asyncio.Event().wait()
        return state

    went = go(act, [turn(text="Let me think.")], limits=AgentLimits(wall_seconds=3))
    attempt = went.harness.attempt
    assert (attempt.ending, attempt.ending_detail) == (Ending.OUT_OF_TIME, "3 s were over")
    assert attempt.submission.patch == "the patch\n" and attempt.turns == 1
    assert went.texts == ["user: Mend it.", "assistant: Let me think."]


def test_an_agent_that_has_ended_in_time_is_not_out_of_it(go: Callable[..., Went]) -> None:
    """A time limit that is not reached changes nothing."""
    assert go(hand_in, [turn()], limits=AgentLimits(wall_seconds=600)).harness.attempt.ending is Ending.SUBMITTED


def test_a_call_over_the_budget_ends_the_sample(go: Callable[..., Went]) -> None:
    """A scaffold that goes on asking is stopped at the model; what it has done stands."""

    async def act(state: AgentState, account: Account) -> AgentState:
        while True:
            await one_turn(state)

    went = go(act, [turn(text="1"), turn(text="2"), turn(text="3")], limits=AgentLimits(uncached_tokens=150))
    attempt = went.harness.attempt
    assert (attempt.ending, attempt.turns) == (Ending.OUT_OF_BUDGET, 2)
    assert "220 uncached tokens were used, over the budget of 150" in attempt.ending_detail
    assert went.texts == ["user: Mend it.", "assistant: 1", "assistant: 2"]
    assert attempt.submission.patch == "the patch\n"


def test_a_provider_that_fails_is_nobodys_answer(go: Callable[..., Went]) -> None:
    """The sample has failed with the provider's words; no tree is read, nothing is begun anew, and it counts."""

    def answer(*request: Any) -> ModelOutput:
        raise RuntimeError("no such model")

    went = go(hand_in, answer)
    assert went.harness.names == ["begun", "finished"]
    attempt = went.harness.attempt
    assert attempt.ending is Ending.FAILED and "no such model" in attempt.ending_detail
    assert attempt.submission.patch == "" and attempt.turns == 0
    assert "no such model" in went.meter.failures[KEY]
    assert (went.sample.scores or {})["graded"].explanation == "failed None"


def test_what_was_said_before_the_provider_failed_is_in_the_log(go: Callable[..., Went]) -> None:
    """A transcript ends where the provider failed."""
    outputs = iter([turn(text="A beginning.")])

    def answer(*request: Any) -> ModelOutput:
        return next(outputs, None) or _raise(RuntimeError("gone"))

    async def act(state: AgentState, account: Account) -> AgentState:
        await one_turn(state)
        return await hand_in(state, account)

    went = go(act, answer)
    assert went.harness.attempt.ending is Ending.FAILED and went.harness.attempt.turns == 1
    assert went.texts == ["user: Mend it.", "assistant: A beginning."]


def _raise(error: Exception) -> ModelOutput:
    raise error


def test_the_runs_cap_puts_a_sample_off(go: Callable[..., Went]) -> None:
    """Nothing is kept and nothing graded: the sample is begun anew when the run goes on."""
    went = go(hand_in, [turn()], budget=Budget(max_tokens=10))
    assert went.harness.names == ["begun", "put_off"]
    assert "budget of 10 tokens" in went.sample.metadata[NOT_ASKED]
    assert ATTEMPT not in went.sample.metadata


def test_a_sandbox_that_breaks_is_begun_anew(go: Callable[..., Went]) -> None:
    """With a workspace and an account of its own."""
    went = go(hand_in, [turn(), turn()], broken=1)
    assert went.harness.names == ["begun", "broke", "begun", "submission", "findings", "finished"]
    assert dict(went.harness.told)["broke"] == "SandboxFault: the tree is gone"
    assert went.harness.attempt.turns == 1
    assert len(went.workspaces.opened) == 2 and all(one.closings for one in went.workspaces.opened)


def test_a_sandbox_that_breaks_every_time_is_a_fault(go: Callable[..., Went]) -> None:
    """After `SANDBOX_TRIES` the sample is left without a result."""
    went = go(hand_in, [turn()] * SANDBOX_TRIES, broken=SANDBOX_TRIES)
    assert went.harness.names == [*["begun", "broke"] * SANDBOX_TRIES, "works"]
    assert went.sample.error is not None and "the tree is gone" in went.sample.error.message


def test_a_sandbox_that_breaks_under_the_agent_alone_is_the_agents_doing(go: Callable[..., Went]) -> None:
    """A workspace that nobody works in does not break: the sample counts, with nothing handed in."""
    went = go(hand_in, [turn()] * SANDBOX_TRIES, broken=SANDBOX_TRIES, harness=Takes(works_is=True))
    assert went.harness.names == [*["begun", "broke"] * SANDBOX_TRIES, "works", "finished"]
    attempt = went.harness.attempt
    assert (attempt.ending, attempt.submission.patch, attempt.turns) == (Ending.CRASHED, "", 1)
    assert attempt.ending_detail == "the workspace broke in each of 3 tries: the tree is gone"
    assert went.sample.error is None


def test_a_fault_that_inspect_kept_from_us_is_found(go: Callable[..., Went]) -> None:
    """A tool that met a broken sandbox told the model so; the sample is ours to begin anew all the same."""
    from inspect_ai.util import sandbox

    async def act(state: AgentState, account: Account) -> AgentState:
        await one_turn(state)
        with pytest.raises(SandboxFault):
            while True:
                await sandbox().exec(["true"])
                workspaces[-1].answers.clear()
                workspaces[-1].answers.append(SandboxFault("the workspace is gone"))
        account.end(Ending.SUBMITTED)
        return state

    workspaces: list[Workspace] = []
    make = Workspaces.open_live

    def open_live(self: Workspaces, *arguments: Any, **options: Any) -> Workspace:
        workspaces.append(make(self, *arguments, **options))
        return workspaces[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Workspaces, "open_live", open_live)
        went = go(act, [turn()] * SANDBOX_TRIES)
    assert went.harness.names == [*["begun", "broke"] * SANDBOX_TRIES, "works"]
    assert "the workspace is gone" in dict(went.harness.told)["broke"]


def test_a_bug_of_a_scaffold_is_ours(go: Callable[..., Went]) -> None:
    """An error that is not the provider's is told as what it is, and the sample has no result."""

    async def act(state: AgentState, account: Account) -> AgentState:
        await one_turn(state)
        raise KeyError("a bug")

    went = go(act, [turn()])
    assert went.harness.names == ["begun", "finished"]
    attempt = went.harness.attempt
    assert attempt.ending is Ending.FAILED
    assert attempt.ending_detail.startswith("scaffold: KeyError: 'a bug' (test_bridge_agents.py:")
    assert graded_attempt(attempt, "m").unreadable == f"sandbox_lost: {attempt.ending_detail}"


def test_somebody_elses_sandbox_is_refused(go: Callable[..., Went]) -> None:
    """A tree can only be taken from a sandbox of ours."""
    went = go(hand_in, [turn()] * SANDBOX_TRIES, spec=SandboxEnvironmentSpec("local"))
    assert "in a sandbox of benchwright's" in dict(went.harness.told)["broke"]


def test_a_patch_that_is_no_utf_8_does_not_harm_the_log(go: Callable[..., Went]) -> None:
    """Neither a patch of a Latin-1 file nor a file's name in it; what is kept has every byte."""
    strange = b"-caf\xe9\n+caf\xe8\n".decode("utf-8", "surrogateescape")
    submission = Submission(patch=strange, left_out=(LeftOut(path=strange[1:5], why="ignored by git"),))
    went = go(hand_in, [turn()], harness=Takes(submission_is=submission))
    assert went.sample.error is None
    assert went.harness.attempt.submission == submission
    assert (went.sample.scores or {})["graded"].explanation is not None
    assert AgentAttempt.from_plain(went.sample.metadata[ATTEMPT]).submission.patch.startswith("-caf")


def test_whose_calls_are_made_is_known_only_meanwhile(go: Callable[..., Went]) -> None:
    """An account is current while its agent works, for all tasks that it starts, and no longer."""
    seen: list[Account | None] = []

    async def look() -> None:
        seen.append(current_account.get(None))

    async def act(state: AgentState, account: Account) -> AgentState:
        await asyncio.create_task(look())
        assert seen == [account]
        return await hand_in(state, account)

    assert go(act, [turn()]).harness.attempt.ending is Ending.SUBMITTED
    assert current_account.get(None) is None


def test_an_agent_may_come_back_with_another_conversation(go: Callable[..., Went]) -> None:
    """As somebody else's program does, whose messages are put together anew."""

    async def act(state: AgentState, account: Account) -> AgentState:
        await one_turn(state)
        account.end(Ending.SUBMITTED)
        return AgentState(messages=[*state.messages, ChatMessageAssistant(content="Done.")])

    went = go(act, [turn(text="Hm.")])
    assert went.texts == ["user: Mend it.", "assistant: Hm.", "assistant: Done."]
    assert went.sample.output.completion == "Done."


def test_names_of_samples_and_what_is_graded_of_them() -> None:
    """Repetitions are numbered from 1 in names; a failed attempt has no patch, any other has one, an empty one too."""
    assert sample_name("a", 0, 1) == "a" and sample_name("a", 1, 3) == "a#2"
    attempt = AgentAttempt(problem_id="a", sample=1, ending=Ending.OUT_OF_BUDGET, ending_detail="spent")
    of_it = graded_attempt(attempt, "m")
    assert (of_it.raw_text, of_it.sample, of_it.ending, of_it.model) == ("", 1, Ending.OUT_OF_BUDGET, "m")
    failed = AgentAttempt(problem_id="a", sample=0, ending=Ending.FAILED, submission=Submission(patch="x"))
    assert graded_attempt(failed, "m").raw_text is None


def test_a_sandbox_is_named_with_its_image_and_limits() -> None:
    """Inspect's log says what a workspace was made of."""
    image = Image(digest="2" * 64, layers=(Path("/a"),), environ={"A": "1"})
    limits = WorkspaceLimits(memory_bytes=1 << 30, processes=7, scratch_bytes=1 << 20)
    spec = sandbox_spec("namespace", image, limits, shared={"/x": Path("/y")})
    assert spec.type == NAMESPACE and isinstance(spec.config, WorkspaceConfig)
    assert spec.config.image == image and spec.config.limits == limits
    assert spec.config.shared_folders == {"/x": Path("/y")}


def test_estimates_count_for_the_cost_and_not_as_reported(go: Callable[..., Went]) -> None:
    """A reply without a report of its usage leaves the attempt's usage empty, and its cost is what we take it to be."""
    went = go(hand_in, [turn(text="A word.", usage=None)], price=PRICE)
    attempt = went.harness.attempt
    assert attempt.usage == TokenUsage() and attempt.cost is not None and attempt.cost > 0
