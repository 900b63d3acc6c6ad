"""What the tests of our scaffolds share: this machine as a sandbox, scripted turns, and real runs of Inspect."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import inspect_streams  # noqa: F401 - imported for what it does
from inspect_ai import Task
from inspect_ai import eval as run_tasks
from inspect_ai.agent import AgentState
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    Model,
    ModelOutput,
    StopReason,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall
from inspect_ai.util import ExecResult, SandboxEnvironment
from tenacity import wait_none

from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.accounts import Account, current_account
from benchwright.bridge.agent_metering import AgentMeter, OverBudget
from benchwright.bridge.replies import model_usage_of
from benchwright.bridge.scaffolds import bash_tool
from benchwright.bridge.scaffolds.base import Scaffold, ScaffoldSettings
from benchwright.core.agents import AgentLimits
from benchwright.core.budget import Budget, Ledger, Price, TokenUsage
from benchwright.store.agent_journal import AgentCall

KEY = SampleKey("p", 0)
USAGE = TokenUsage(input_tokens=100, output_tokens=10)
PRICE = Price(input=1.0, output=10.0, as_of="2026-01-01", source="made up")
Call = tuple[str, dict[str, Any]]


class HostEnvironment(SandboxEnvironment):
    """This machine as somebody else's sandbox; not for commands that do harm."""

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Run a command."""
        process = await asyncio.create_subprocess_exec(
            *cmd,
            cwd=cwd,
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            stdout, stderr = await asyncio.wait_for(process.communicate(), timeout)
        except TimeoutError:
            os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
            raise
        status = process.returncode or 0
        return ExecResult(success=status == 0, returncode=status, stdout=stdout.decode(), stderr=stderr.decode())

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Write a file with its folders."""
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes(contents if isinstance(contents, bytes) else contents.encode())

    async def read_file(self, file: str, text: bool = True) -> Any:
        """Read a file."""
        data = Path(file).read_bytes()
        return data.decode() if text else data

    @classmethod
    async def sample_cleanup(cls, task_name: str, config: Any, environments: Any, interrupted: bool) -> None:
        """There is nothing to close."""


def turn(*calls: Call, text: str = "", usage: TokenUsage | None = USAGE, stop: StopReason | None = None) -> ModelOutput:
    """A response that calls these tools."""
    made = [ToolCall(id=f"{id(calls)}_{n}", function=name, arguments=given) for n, (name, given) in enumerate(calls)]
    message = ChatMessageAssistant(content=text, tool_calls=made or None, model="mockllm")
    choice = ChatCompletionChoice(message=message, stop_reason=stop or ("tool_calls" if made else "stop"))
    return ModelOutput(model="mockllm", choices=[choice], usage=None if usage is None else model_usage_of(usage))


def bash(command: str, **more: Any) -> Call:
    """A call of the bash tool."""
    return "bash", {"command": command, **more}


SUBMIT: Call = ("submit", {})

Outputs = Sequence[ModelOutput] | Callable[..., Any]


def playing(outputs: Outputs) -> Model:
    """A model that gives these responses in turn, or what a function makes of each request."""
    return get_model("mockllm/model", custom_outputs=outputs, memoize=False)


@dataclass
class Worked:
    """What came of a run of one sample."""

    account: Account
    meter: AgentMeter
    calls: list[AgentCall]
    log: EvalLog

    @property
    def sample(self) -> EvalSample:
        """The sample in the log."""
        assert self.log.samples
        return self.log.samples[0]

    @property
    def texts(self) -> list[str]:
        """The conversation, role and text of each message; of a failed tool call the error."""
        return [f"{message.role}: {_text(message)}" for message in self.sample.messages]


def _text(message: ChatMessage) -> str:
    return message.error.message if isinstance(message, ChatMessageTool) and message.error else message.text


def work(
    scaffold: Scaffold,
    outputs: Outputs,
    folder: Path,
    *,
    limits: AgentLimits | None = None,
    price: Price | None = None,
    budget: Budget | None = None,
    settings: ScaffoldSettings | None = None,
    where: Any = "local",
    retries: int = 0,
) -> Worked:
    """Let a scaffold work on one sample in a real run of Inspect, metered; an error of the sample is raised.

    With retries, whatever the model's provider raises is tried again, at once.
    """
    account = Account(KEY, limits or AgentLimits(), price)
    settings = settings or ScaffoldSettings(command_seconds=20)
    calls: list[AgentCall] = []
    meter = AgentMeter(Ledger(budget or Budget(), price), record=calls.append)
    model = playing(outputs)
    if retries:
        monkey: Any = model.api
        monkey.should_retry, monkey.retry_wait = lambda error: not isinstance(error, OverBudget), wait_none
    scaffold.ready(model, settings)
    meter.attach(model)
    raised: list[Exception] = []

    @solver
    def at_work() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            conversation = AgentState(messages=state.messages)
            token = current_account.set(account)
            try:
                await scaffold.agent(settings, account)(conversation)
            except Exception as error:
                raised.append(error)
                raise
            finally:
                current_account.reset(token)
                state.messages = conversation.messages
            return state

        return solve

    task = Task([Sample("Mend it.", id="p")], solver=at_work(), sandbox=where)
    with patch.object(bash_tool, "STATE", str(folder / "shell-")):
        log = run_tasks(task, model=model, log_dir=str(folder / "logs"), display="none", max_retries=retries)[0]
    if raised:
        raise raised[0]
    assert log.status == "success", log.error
    return Worked(account, meter, calls, log)
