"""Between the program of somebody else's scaffold and the model: budgets, failures, and what the agent may ask for.

Such a program asks Inspect's bridge, which asks the model in a task of its own and turns errors into replies that the
program may answer by asking again.  So the watch stands around the model's `generate`: it lets no call pass that the
budget forbids, and ends the program itself when one is forbidden or fails.

watch_calls(model)      calls of the model pass the watch of the sample that makes them
Watch.run()             lets an agent act under a watch
"""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

import anyio
from inspect_ai.agent import Agent, AgentState
from inspect_ai.model import ChatMessage, ChatMessageTool, Model, ModelOutput

from benchwright.bridge.accounts import Account
from benchwright.bridge.replies import clip
from benchwright.bridge.scaffolds import limit_command
from benchwright.core.attempts import Ending

LAST_TURN_SECONDS = 60.0
"""How long the last turn's tool calls may go on after a call beside the conversation was forbidden; a sub-agent's
call is one, and its conversation would wait for it for ever."""

_LAST_WORDS = 200
"""Characters of a program's output that are kept of the end."""

_ENDINGS = {
    "content_filter": (Ending.REFUSED, "the last reply was a refusal"),
    "model_length": (Ending.OVERFLOWED, "the conversation did not fit the model's context any more"),
}
"""What the last reply of a program that ended by itself says of its ending, by Inspect's stop reason."""


class Watch:
    """One sample's; made in the task that runs its agent."""

    def __init__(
        self,
        account: Account,
        *,
        tell: Callable[[Account], Awaitable[None]] = limit_command.tell,
        last_turn_seconds: float = LAST_TURN_SECONDS,
    ) -> None:
        """Make a watch.

        Args:
            account: The sample's.
            tell: Lets the agent know what is left; called after every reply.
            last_turn_seconds: See `LAST_TURN_SECONDS`.
        """
        self._account = account
        self._tell = tell
        self._last_turn_seconds = last_turn_seconds
        self._scope = anyio.CancelScope()
        self._state: AgentState | None = None
        self._failure: Exception | None = None
        self._last_reply: ModelOutput | None = None

    async def run(self, agent: Agent, state: AgentState) -> AgentState:
        """Let an agent act on a conversation, and tell the account how it ended.

        Raises what the model's call raised, should one fail for good, and errors from before the first reply: nobody
        has acted then.
        """
        self._state = state
        token = _current.set(self)
        try:
            with self._scope:
                await agent(state)
        except RuntimeError as error:  # what inspect_swe raises for a program that ends with an error
            if self._failure is None:
                self._crashed(error)
        finally:
            _current.reset(token)
        if self._failure is not None:
            raise self._failure
        if self._scope.cancelled_caught:
            self._account.end(Ending.OUT_OF_BUDGET, self._account.over or "")
        elif self._last_reply is None:
            raise RuntimeError("the scaffold's program ended without having asked the model")
        else:
            self._account.end(*_ENDINGS.get(_stop_reason(state.output), (Ending.SUBMITTED, "")))
        return state

    def _crashed(self, error: RuntimeError) -> None:
        """Tell the account why the program ended with an error, or raise it when there has been no reply yet."""
        if self._last_reply is None:
            raise error
        crashed = (Ending.CRASHED, last_words(str(error)))
        self._account.end(*_ENDINGS.get(_stop_reason(self._last_reply), crashed))

    async def call(self, messages: list[ChatMessage], send: Callable[[], Awaitable[ModelOutput]]) -> ModelOutput:
        """Make a call of the model, if it may be made."""
        if self._account.over is not None:
            await self._stop(messages)
        try:
            output = await send()
        except Exception as error:
            # Inspect has tried again as often as it was told to; to the program this would be a reply to try again on.
            self._failure = self._failure or error
            self._scope.cancel()
            raise
        self._last_reply = output
        await self._tell(self._account)
        return output

    async def _stop(self, messages: list[ChatMessage]) -> None:
        """End the program as soon as its last turn's tool calls have run; never comes back."""
        if self._last_turn_runs(messages):
            await anyio.sleep(self._last_turn_seconds)
        elif self._state is not None:
            self._state.messages = messages  # with the results of the last turn, which no reply will follow
        self._scope.cancel()
        await anyio.sleep_forever()

    def _last_turn_runs(self, messages: list[ChatMessage]) -> bool:
        """Whether tool calls of the conversation are unanswered by the messages of a call that is to be made."""
        if self._state is None or self._state.output.empty:
            return False
        answered = {message.tool_call_id for message in messages if isinstance(message, ChatMessageTool)}
        return any(call.id not in answered for call in self._state.output.message.tool_calls or ())


def _stop_reason(output: ModelOutput) -> str:
    return "unknown" if output.empty else output.stop_reason


def last_words(text: str) -> str:
    """How a program's complaint begins, and how it ends: it may have said much before."""
    first, _, rest = " ".join(text.split()).partition(": ")
    return clip(f"{first}: …{rest[-_LAST_WORDS:]}" if len(rest) > _LAST_WORDS else text)


def watch_calls(model: Model) -> None:
    """Have every call of a model pass the watch of the sample that makes it; calls without one are made as they are.

    Doing it again does nothing.
    """
    if "generate" in vars(model):
        return
    send = model.generate

    async def generate(input: str | list[ChatMessage], *args: Any, **kwargs: Any) -> ModelOutput:
        watch = _current.get(None)
        if watch is None or isinstance(input, str):
            return await send(input, *args, **kwargs)
        return await watch.call(input, lambda: send(input, *args, **kwargs))

    # The instance's own attribute: Inspect's bridge asks by the model it is given, and offers no place after a reply.
    model.generate = generate  # type: ignore[method-assign]


_current: ContextVar[Watch] = ContextVar("benchwright_watch")
