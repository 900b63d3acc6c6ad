"""Our own scaffold: the model acts, sees what came of it, and so on until an end.

A turn is one response with all its tool calls, which run one after the other.  After a turn a model that has handed
in, refuses, has filled its context or has given up is at its end; so is one that is over its budget, whose last turn's
work stands; any other is told what is left and asked for the next turn.  The conversation only grows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.model import (
    ChatMessage,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    execute_tools,
    get_model,
)
from inspect_ai.tool import ToolDef
from inspect_ai.util import sandbox

from benchwright.benchmarks.agent_prompts import LOOP_TOOLS
from benchwright.bridge.accounts import Account
from benchwright.bridge.agent_metering import OverBudget
from benchwright.bridge.native import attach_native
from benchwright.bridge.replies import clip
from benchwright.bridge.sandboxing.base import live
from benchwright.bridge.scaffolds import bash_tool, editor_tool, patch_tool, submit_tool
from benchwright.bridge.scaffolds.base import ReadyScaffold, ScaffoldSettings
from benchwright.bridge.scaffolds.budget_notes import USED_UP, with_budget
from benchwright.core.attempts import Ending
from benchwright.core.repositories import WORK

RESPONSES_WITHOUT_CALL = 3
"""So many in a row, and the model has given up."""
REMINDER = (
    "Your response has no tool call, so nothing was done. Go on with the tools; when the work is done, call "
    f"{submit_tool.NAME}."
)
CUT_OFF = "Your response was cut off at the limit of its length."
CALL_CUT_OFF = (
    "The response was cut off at the limit of its length, and this call may not be complete, so it was not run. Take "
    "smaller steps."
)

CONFIG = GenerateConfig(cache_prompt="auto")
"""Inspect then asks Anthropic to keep what was sent; since a conversation only grows, each turn reads all of the last
one's from there.  Other providers do it unasked, or not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopScaffold:
    """The loop with some of our tools; see `Scaffold`."""

    name: str
    tools: tuple[str, ...]
    """Of `bash`, `text_editor`, `apply_patch` and `submit`, which has to be among them."""
    folder: str = WORK
    """The folder of the repository in the sandbox."""

    def ready(self, model: Model, settings: ScaffoldSettings) -> ReadyScaffold:
        """Offer tools in the provider's own form as far as the settings say; see `Scaffold.ready`."""
        forms = attach_native(model, self.tools, settings.native_tools)
        return ReadyScaffold(facts={}, forms=forms, shared={}, limit_command=False)

    def agent(self, settings: ScaffoldSettings, account: Account) -> Agent:
        """An agent for one sample; see `Scaffold.agent`."""

        @agent(name=self.name)
        def at_work() -> Agent:
            async def execute(state: AgentState) -> AgentState:
                await _Loop(await self._tools(settings), account, state).run(get_model())
                return state

            return execute

        return at_work()

    async def _tools(self, settings: ScaffoldSettings) -> list[ToolDef]:
        environment = sandbox()
        editor = editor_tool.TextEditor(settings)
        if editor_tool.NAME in self.tools:
            await editor.begin(self.folder)
        make: dict[str, Callable[[], ToolDef]] = {
            bash_tool.NAME: lambda: bash_tool.bash_tool(environment, settings, start=self.folder),
            editor_tool.NAME: editor.tool,
            patch_tool.NAME: lambda: patch_tool.patch_tool(environment, root=self.folder),
            submit_tool.NAME: submit_tool.submit_tool,
        }
        return [make[name]() for name in self.tools]


LOOP = LoopScaffold(name="loop", tools=LOOP_TOOLS)
BASH_ONLY = LoopScaffold(name="bash-only", tools=(bash_tool.NAME, submit_tool.NAME))


class _Loop:
    """One sample's way through the loop."""

    def __init__(self, tools: Sequence[ToolDef], account: Account, state: AgentState) -> None:
        self._tools = tools
        self._account = account
        self._state = state
        self._without_call = 0

    async def run(self, model: Model) -> None:
        """Let the model work to its end, which the account is told."""
        while self._account.ending is None:
            try:
                output = await model.generate(self._state.messages, tools=self._tools, config=CONFIG)
            except OverBudget as reason:  # by calls that failed since the last turn
                self._end_of_budget(str(reason))
                return
            self._state.output = output
            self._state.messages.append(output.message)
            match output.stop_reason:
                case "model_length":
                    self._account.end(Ending.OVERFLOWED, _words(output) or "the context is full")
                case "content_filter":
                    self._account.end(Ending.REFUSED, _words(output) or "the provider withheld the answer")
                case _:
                    await self._finish_turn(output)

    async def _finish_turn(self, output: ModelOutput) -> None:
        answers = await self._act(output)
        if any(isinstance(answer, ChatMessageTool) and _hands_in(answer) for answer in answers):
            self._account.end(Ending.SUBMITTED)
        elif self._without_call == RESPONSES_WITHOUT_CALL:
            self._account.end(Ending.GAVE_UP, f"{RESPONSES_WITHOUT_CALL} responses in a row had no tool call")
        over = self._account.over
        if self._account.ending is None and over is None:
            answers = with_budget(answers, self._account) if answers else [self._reminder(output)]
        self._state.messages.extend(answers)
        if self._account.ending is None and over is not None:
            self._end_of_budget(over)

    async def _act(self, output: ModelOutput) -> list[ChatMessage]:
        """Run the calls of a response; gives the tools' answers, none when there was no call."""
        calls = output.message.tool_calls
        if not calls:
            self._without_call += 1
            return []
        self._without_call = 0
        if output.stop_reason == "max_tokens":
            calls[-1].parse_error = CALL_CUT_OFF  # some providers complete what is cut off, to something else
        answers, _ = await execute_tools(self._state.messages, self._tools)
        ours = live(sandbox())
        if ours is not None and ours.fault is not None:
            raise ours.fault  # Inspect has told the model of it, as if it were the model's
        return answers

    def _reminder(self, output: ModelOutput) -> ChatMessage:
        cut_off = f"{CUT_OFF} " if output.stop_reason == "max_tokens" else ""
        return ChatMessageUser(content=f"{cut_off}{REMINDER}\n\n{self._account.line()}")

    def _end_of_budget(self, reason: str) -> None:
        self._account.end(Ending.OUT_OF_BUDGET, reason)
        self._state.messages.append(ChatMessageUser(content=USED_UP.format(reason=reason)))


def _words(output: ModelOutput) -> str:
    return clip(output.completion or output.error or "")


def _hands_in(answer: ChatMessageTool) -> bool:
    """Whether it answers a call that handed in, and not one that could not be read."""
    return answer.function == submit_tool.NAME and answer.error is None
