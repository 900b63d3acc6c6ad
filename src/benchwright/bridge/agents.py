"""An agent's way through one sample: it works in a sandbox, the harness takes what it left, the sandbox is closed.

The task has one sample per problem and repetition.  A sample's workspace is never the grader's: it is gone before the
patch is graded.
"""

import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import anyio
from inspect_ai import Task
from inspect_ai.agent import AgentState
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, GenerateConfig
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import SandboxEnvironmentSpec as SandboxEnvironmentSpec  # users get it from here
from inspect_ai.util import SandboxUnavailableError, sandbox

from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.accounts import Account, current_account
from benchwright.bridge.agent_metering import AgentMeter, OverBudget
from benchwright.bridge.metering import NotAsked
from benchwright.bridge.replies import clip
from benchwright.bridge.sandboxing import opened
from benchwright.bridge.sandboxing.base import live
from benchwright.bridge.sandboxing.config import WorkspaceConfig
from benchwright.bridge.scaffolds.base import ReadyScaffold, Scaffold, ScaffoldSettings
from benchwright.bridge.scoring import NOT_ASKED, PROBLEM
from benchwright.bridge.transcripts import actions_of
from benchwright.core.agents import Action, AgentAttempt, AgentLimits, Finding, Submission
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.budget import Price
from benchwright.core.errors import MachineError, SandboxFault
from benchwright.core.prompts import Prompt
from benchwright.core.repositories import WORK, RepositoryProblem
from benchwright.core.verdicts import Reason
from benchwright.sandboxes.base import Image, WorkspaceLimits

SAMPLE, ATTEMPT = "sample", "attempt"
"""Names in a sample's metadata: its number, and what came of it."""
SANDBOX_BROKE, SCAFFOLD_BROKE = "sandbox: ", "scaffold: "
"""What the details of samples begin with that our side failed, not the provider."""
_SANDBOX_BROKE = (SandboxFault, SandboxUnavailableError, MachineError)
SANDBOX_TRIES = 3
"""How often a sample is begun whose sandbox breaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSample:
    """One problem to be worked on once."""

    problem: RepositoryProblem
    sample: int
    """From 0."""
    prompt: Prompt
    sandbox: SandboxEnvironmentSpec
    name: str
    """The sample's id in the log."""

    @property
    def key(self) -> SampleKey:
        """Its problem and number."""
        return SampleKey(self.problem.id, self.sample)


class Harness(Protocol):
    """What the run does for a sample, outside the agent's reach; any thread may call."""

    def submission(self, problem: RepositoryProblem, tree: BinaryIO) -> Submission:
        """The difference between the tree that an agent left, as a tar archive, and the one it was handed."""

    def findings(
        self, problem: RepositoryProblem, actions: Sequence[Action], patch: str, written: Sequence[str] | None
    ) -> tuple[Finding, ...]:
        """What a person may want to look at."""

    def works(self, problem: RepositoryProblem) -> bool:
        """Whether a workspace of the problem that nobody works in opens, runs a command and gives its tree."""

    def fixes(self) -> tuple[str, ...]:
        """Ids of the evaluation's changes that the results have."""

    def begun(self, key: SampleKey) -> None:
        """An agent begins."""

    def finished(self, attempt: AgentAttempt) -> None:
        """An agent has ended: to be kept before anything else happens."""

    def broke(self, key: SampleKey, words: str) -> None:
        """Our side broke under a sample, which may be begun anew."""

    def put_off(self, key: SampleKey) -> None:
        """The run is being stopped: the sample is to be begun anew when it goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How samples are worked on; the same for all of a run."""

    scaffold: Scaffold
    ready: ReadyScaffold
    settings: ScaffoldSettings
    limits: AgentLimits
    price: Price | None
    meter: AgentMeter
    harness: Harness
    problems: Callable[[str], RepositoryProblem]


def agent_task(
    samples: Sequence[AgentSample],
    *,
    name: str,
    work: Work,
    score: Scorer,
    generation: Mapping[str, Any],
    metadata: Mapping[str, object],
) -> Task:
    """The Inspect task of a run, or of what is left of it; settings of generation in Inspect's names."""
    dataset = [
        Sample(
            id=sample.name,
            input=[ChatMessageUser(content=sample.prompt.text)],
            metadata={PROBLEM: sample.problem.id, SAMPLE: sample.sample, "tags": list(sample.problem.tags)},
            sandbox=sample.sandbox,
        )
        for sample in samples
    ]
    return Task(
        name=name,
        dataset=MemoryDataset(dataset, name=name),
        solver=at_work(work),
        scorer=score,
        config=GenerateConfig(**generation),
        fail_on_error=False,
        metadata=dict(metadata),
    )


def at_work(work: Work) -> Solver:
    """The solver that lets an agent work, and keeps what it left."""

    breaks: Counter[SampleKey] = Counter()

    @solver(name=work.scaffold.name)
    def make() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            key = SampleKey(state.metadata[PROBLEM], state.metadata[SAMPLE])
            account = Account(key, work.limits, work.price)
            token = current_account.set(account)
            work.harness.begun(key)
            started = time.monotonic()
            try:
                await _act(work, state, account)
                attempt = await _attempt(work, state, account, started)
            except NotAsked as reason:
                state.metadata[NOT_ASKED] = str(reason)
                work.harness.put_off(key)
                return state
            except Exception as error:
                work.harness.broke(key, f"{type(error).__name__}: {error}")
                breaks[key] += 1
                if breaks[key] < SANDBOX_TRIES or not await _is_the_agents_doing(work, account, error):
                    raise
                detail = f"the workspace broke in each of {SANDBOX_TRIES} tries: {clip(str(error))}"
                attempt = _attempt_of(work, state, account, started, _Left(ending=Ending.CRASHED, detail=detail))
            finally:
                current_account.reset(token)
            await anyio.to_thread.run_sync(work.harness.finished, attempt)
            state.metadata[ATTEMPT] = attempt.to_plain()
            return state

        return solve

    return make()


async def _act(work: Work, state: TaskState, account: Account) -> None:
    """Let the agent work until it has ended, or its time is over; what came of it is told to the account."""
    agent = work.scaffold.agent(work.settings, account)
    conversation = AgentState(messages=state.messages)
    try:
        with anyio.move_on_after(work.limits.wall_seconds) as clock:
            conversation = await agent(conversation)
        if clock.cancelled_caught:
            words = work.meter.failure(account.key)
            if words is not None and not account.turns:
                account.end(Ending.FAILED, words)  # the provider's time was over, not the agent's
            account.end(Ending.OUT_OF_TIME, f"{work.limits.wall_seconds:g} s were over")
    except OverBudget as reason:
        work.meter.note_success(account.key)
        account.end(Ending.OUT_OF_BUDGET, str(reason))
    except NotAsked:
        raise
    except Exception as error:
        if isinstance(error, _SANDBOX_BROKE):
            raise  # to be begun anew
        words = work.meter.failure(account.key) or f"{SCAFFOLD_BROKE}{_place_of(error)}"
        work.meter.note_failure(account.key, error)
        account.end(Ending.FAILED, words)
    else:
        work.meter.note_success(account.key)
    finally:
        # Also what was said before the time was over or an error came: Inspect's list is the agent's own.
        state.messages = conversation.messages
    account.end(Ending.GAVE_UP, "the scaffold ended without saying how")
    state.output = conversation.output


def _place_of(error: Exception) -> str:
    """What was raised, and where."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {clip(str(error))} ({Path(frame.filename).name}:{frame.lineno})"


async def _is_the_agents_doing(work: Work, account: Account, error: Exception) -> bool:
    """Whether a workspace that keeps breaking does so because of what the agent does in it.

    It is when one that nobody works in does not break: or an agent could have a sample that it cannot solve left out
    of the score.
    """
    if not isinstance(error, (SandboxFault, SandboxUnavailableError)) or not account.turns:
        return False
    return await anyio.to_thread.run_sync(work.harness.works, work.problems(account.key.problem_id))


class _Left(NamedTuple):
    """What came of an agent."""

    ending: Ending
    detail: str
    submission: Submission = Submission(patch="")
    findings: tuple[Finding, ...] = ()


async def _attempt(work: Work, state: TaskState, account: Account, started: float) -> AgentAttempt:
    ending, detail = account.ending, account.ending_detail
    assert ending is not None, "an agent that has come back has ended"
    if ending is Ending.FAILED:
        return _attempt_of(work, state, account, started, _Left(ending, detail))
    problem = work.problems(account.key.problem_id)
    submission, written = await _taken(work, problem)
    findings = await anyio.to_thread.run_sync(
        work.harness.findings, problem, actions_of(state.messages), submission.patch, written
    )
    return _attempt_of(work, state, account, started, _Left(ending, detail, submission, findings))


def _attempt_of(work: Work, state: TaskState, account: Account, started: float, left: _Left) -> AgentAttempt:
    return AgentAttempt(
        problem_id=account.key.problem_id,
        sample=account.key.sample,
        ending=left.ending,
        ending_detail=left.detail,
        submission=left.submission,
        usage=account.reported,
        cost=account.spent.cost,
        turns=account.turns,
        tool_calls=len(actions_of(state.messages)),
        wall_seconds=round(time.monotonic() - started, 3),
        findings=left.findings,
        log_sample=str(state.sample_id),
        facts={**work.ready.facts, **account.facts},
        fixes=work.harness.fixes(),
    )


async def _taken(work: Work, problem: RepositoryProblem) -> tuple[Submission, Sequence[str] | None]:
    """What the agent left in its tree, and where else it wrote; its workspace is closed then."""
    environment = live(sandbox())
    if environment is None:
        raise SandboxFault("an agent works in a sandbox of benchwright's, and this is another one")
    if environment.fault is not None:
        raise environment.fault  # which Inspect has told the model of, and went on
    written = await environment.written()
    with tempfile.TemporaryFile() as tree:
        await environment.tree(WORK, tree)
        tree.seek(0)
        submission = await anyio.to_thread.run_sync(work.harness.submission, problem, tree)
    await anyio.to_thread.run_sync(opened.close, environment.workspace)
    return submission, written


def attempt_in(state: TaskState, model: str) -> tuple[AgentAttempt, Attempt]:
    """What came of a finished sample, and the same as what is graded."""
    attempt = AgentAttempt.from_plain(state.metadata[ATTEMPT])
    return attempt, graded_attempt(attempt, model)


def graded_attempt(attempt: AgentAttempt, model: str) -> Attempt:
    """An agent's attempt as what is graded: its patch, however it ended; nothing when it failed."""
    failed = attempt.ending is Ending.FAILED
    ours = failed and attempt.ending_detail.startswith((SANDBOX_BROKE, SCAFFOLD_BROKE))
    return Attempt(
        problem_id=attempt.problem_id,
        sample=attempt.sample,
        solution=None,
        raw_text=None if failed else attempt.submission.patch,
        model=model,
        ending=attempt.ending,
        ending_detail=attempt.ending_detail,
        unreadable=f"{Reason.SANDBOX_LOST}: {attempt.ending_detail}" if ours else None,
    )


def sample_name(problem_id: str, sample: int, samples: int) -> str:
    """A sample's id in the log: the problem's, with the repetition's number from 1 where there are several."""
    return problem_id if samples == 1 else f"{problem_id}#{sample + 1}"


def sandbox_spec(
    name: str, image: Image, limits: WorkspaceLimits, *, shared: Mapping[str, Path]
) -> SandboxEnvironmentSpec:
    """What Inspect is told of a sample's workspace; ``name`` is that of one of our sandboxes."""
    return SandboxEnvironmentSpec(f"benchwright/{name}", WorkspaceConfig.from_image(image, limits, shared))
