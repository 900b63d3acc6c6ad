"""Between Inspect and the provider: every try of every call is counted and, when the budget says so, not made.

Inspect retries above this place, so that each try passes here: a call that is thrown away later is paid for all the
same, and is counted.  Whose call it is and where it is kept is up to the two kinds of meter, in `metering` (one answer
a sample) and `agent_metering` (agents).
"""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ContentReasoning,
    GenerateConfig,
    Model,
    ModelOutput,
)

from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.inspect_private import AttemptTimeoutError
from benchwright.bridge.replies import clip, model_usage_of, overflow_of, reply_of, status_of, usage_of
from benchwright.bridge.usage import provider_of
from benchwright.core.attempts import Ending
from benchwright.core.budget import Estimate, Fit, Ledger, Reservation, TokenUsage
from benchwright.core.errors import BenchwrightError
from benchwright.store.replies import Reply

_CHARACTERS_PER_TOKEN = 2.5
"""Fewer than any tokenizer in use makes of English or code: an estimate before the call must not be too low."""
_UNKNOWN_OUTPUT_TOKENS = 4096
"""Expected of a reply without a limit of its own, until longer ones have been seen."""
_NOT_BILLED = (Ending.OVERFLOWED, Ending.REFUSED)
"""Endings that come without usage when the provider has answered with an error instead of calling the model."""
_UNREADABLE = (TypeError, ValueError, AttributeError, LookupError)
"""What clients raise over an answer that is not as they expect."""
_MOST_TOKENS = 100_000_000
"""Of one kind in one call: more than any model reads or writes."""
MAX_FAILED_IN_A_ROW = 20
"""Samples that fail one after the other before the provider counts as gone."""

Send = Callable[[], Awaitable[Any]]
"""Makes one try of a call."""


class NotAsked(BenchwrightError):
    """The run is being stopped; no call was made.  Handled by the solver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is sent."""

    messages: list[ChatMessage]
    tools: Sequence[Any]
    """Inspect's descriptions of tools."""
    provider: str

    def characters(self) -> int:
        """Of everything that is read for it."""
        return sum(map(len, (*_texts(self.messages), *(tool.model_dump_json() for tool in self.tools))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a try of a call has ended."""

    reply: Reply | None
    """What came; None when it failed.  A prompt that does not fit the model is an answer."""
    usage: TokenUsage | None = None
    """As reported; None when nothing was."""
    estimated_tokens: int = 0
    """What it is taken to have used when nothing was reported."""
    error: str = ""
    """The provider's words when it failed, in one line without secrets."""
    given_up: bool = False
    """Whether it was our side that broke it off."""
    seconds: float


class CallMeter(ABC):
    """Counts and limits the calls of one model in one run.  One event loop at a time owns it."""

    def __init__(
        self, ledger: Ledger, *, timeout: int | None, reply_tokens: int | None, secrets: Sequence[str], longest: int
    ) -> None:
        """Make a meter.

        Args:
            ledger: What was spent, earlier invocations included, and what may be.
            timeout: Seconds for one try of one call.
            reply_tokens: Most tokens of one reply, when the user has set a limit.
            secrets: Texts that no error may carry into a file; servers repeat keys that they refuse.
            longest: Tokens of the longest reply that was seen.
        """
        self.ledger = ledger
        self._timeout = timeout
        self._reply_tokens = reply_tokens
        self._secrets = tuple(secrets)
        self._longest = longest
        self._settled = asyncio.Event()
        self._failed_in_a_row = 0
        self._answered_now: set[SampleKey] = set()
        self.stopped: str | None = None
        """Why no further call is made; None while all is well."""
        self.fatal: Exception | None = None
        """What this machine could not do, or a bug; the run has to end with it."""
        self.failures: dict[SampleKey, str] = {}
        """Samples that stayed without a reply after all retries, with the provider's last words."""

    @abstractmethod
    async def _call(self, request: Request, send: Send) -> Any:
        """One try of a call, as Inspect makes it; mostly `_measured`, with whose call it is."""

    @abstractmethod
    def _close(self, key: SampleKey | None, request: Request, reservation: Reservation, ended: Ended) -> None:
        """Charge a try that has ended, and keep it."""

    @abstractmethod
    def _overflowed(self, key: SampleKey | None, reply: Reply) -> ModelOutput:
        """What Inspect is given in the place of an error that says that the prompt does not fit."""

    def attach(self, model: Model) -> None:
        """Put this meter between a model and its provider, around whatever translates there already."""
        self._settled = asyncio.Event()  # anew: an event belongs to the loop it was first waited for in
        send = model.api.generate
        provider = provider_of(model)

        async def generate(input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig) -> Any:
            def send_it() -> Awaitable[Any]:
                client = getattr(model.api, "client", None)  # some providers make it with their first call
                if client is not None and hasattr(client, "max_retries"):
                    client.max_retries = 0  # or it would repeat calls below this place, unseen; Inspect repeats them
                return send(input=input, tools=tools, tool_choice=tool_choice, config=config)

            return await self._call(Request(messages=input, tools=tools, provider=provider), send_it)

        # The instance's own attribute, so that any provider's class is served and none is changed.
        model.api.generate = generate  # type: ignore[method-assign]

    async def _measured(self, key: SampleKey | None, request: Request, send: Send) -> Any:
        """Make a try when the budget has room for it, and see it charged."""
        reservation = await self._reserve(self._estimate(request))
        started = time.monotonic()
        try:
            # Not Inspect's own limit for a try: waiting for room in the budget would count.
            with anyio.move_on_after(self._timeout) as patience:
                result = await send()
            if patience.cancelled_caught:
                raise AttemptTimeoutError(self._timeout)
        except BaseException as error:
            reply = self._failed(key, request, reservation, error, time.monotonic() - started)
            if reply is not None:
                return self._overflowed(key, reply)
            self._refuse_secrets(error)
            raise
        output = result[0] if isinstance(result, tuple) else result
        seconds = time.monotonic() - started
        if isinstance(output, Exception):
            reply = self._failed(key, request, reservation, output, seconds)
            if reply is not None:
                return self._overflowed(key, reply)
            self._refuse_secrets(output)
            return result
        self._answered(key, request, reservation, result, seconds)
        if not output.choices:  # Inspect would fail on it, but a server that answers nothing has answered
            output.choices = ModelOutput.from_content(output.model, "").choices
        return result

    def _answered(
        self, key: SampleKey | None, request: Request, reservation: Reservation, result: Any, seconds: float
    ) -> None:
        output, call = result if isinstance(result, tuple) else (result, None)
        reply = reply_of(output)
        written = 0 if reply.ending_detail or not output.choices else sum(map(len, _texts([output.message])))
        usage = _believable(output, request.provider, getattr(call, "response", None), silent=not written)
        estimated = 0
        if usage is None and reply.ending not in _NOT_BILLED:
            estimated = reservation.estimate.input_tokens + int(written / _CHARACTERS_PER_TOKEN) + 1
        if usage is None:
            output.usage = None  # what is not believed is in no sum, of ours or of Inspect's
        else:
            _correct(output, usage)
            self._longest = max(self._longest, usage.output_tokens)
        ended = Ended(reply=reply, usage=usage, estimated_tokens=estimated, seconds=seconds)
        self._close_first(key, request, reservation, ended)

    def _failed(
        self,
        key: SampleKey | None,
        request: Request,
        reservation: Reservation,
        error: BaseException,
        seconds: float,
    ) -> Reply | None:
        """Take note of a failed try; gives the reply that it is when it says that the prompt does not fit."""
        # An answer with an error status is not billed.  A call that broke off may be: at least its input counts.
        estimated = 0 if status_of(error) is not None else reservation.estimate.input_tokens
        if isinstance(error, _UNREADABLE) and estimated:
            estimated = reservation.estimate.tokens  # it did answer, in a way that the client cannot read
        overflow = overflow_of(error) if isinstance(error, Exception) else None
        reply = Reply(text="", ending=Ending.OVERFLOWED, ending_detail=overflow) if overflow else None
        ended = Ended(
            reply=reply,
            estimated_tokens=estimated,
            error=self._plain(error),
            given_up=not isinstance(error, Exception),
            seconds=seconds,
        )
        self._close_first(key, request, reservation, ended)
        return reply

    def _close_first(self, key: SampleKey | None, request: Request, reservation: Reservation, ended: Ended) -> None:
        """Close a try, and let others look for room whatever comes of that."""
        if ended.reply is not None and key is not None:
            self._answered_now.add(key)
        try:
            self._close(key, request, reservation, ended)
        finally:
            self._settled.set()

    def _refuse_secrets(self, error: BaseException) -> None:
        """Raise in the place of an error that holds a secret: Inspect would write it into the log."""
        if any(secret in str(error) for secret in self._secrets):
            raise RuntimeError(self._plain(error)) from None

    def _estimate(self, request: Request) -> Estimate:
        # The user's own limit: the largest that a provider allows, which Inspect may fill in, reserves far too much.
        output = self._reply_tokens or max(self._longest, _UNKNOWN_OUTPUT_TOKENS)
        return Estimate(input_tokens=int(request.characters() / _CHARACTERS_PER_TOKEN) + 16, output_tokens=output)

    async def _reserve(self, estimate: Estimate) -> Reservation:
        while True:
            if self.stopped is not None:
                raise NotAsked(self.stopped)
            decision = self.ledger.reserve(estimate)
            if decision.reservation is not None:
                return decision.reservation
            if decision.fit is Fit.NEVER:
                self.stopped = decision.reason
                self._settled.set()  # whoever waits for room waits in vain
            else:
                self._settled.clear()
                await self._settled.wait()

    def give_up(self, error: Exception) -> None:
        """Ask nothing more: the run cannot go on."""
        self.fatal = self.fatal or error
        self.stopped = self.stopped or str(error)
        self._settled.set()

    def note_failure(self, key: SampleKey, error: BaseException) -> None:
        """A sample stays without a reply; when too many do in a row, nothing more is asked."""
        cause = error.__cause__ or error  # Inspect puts the whole request before the provider's words
        self.failures[key] = self._plain(cause)
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= MAX_FAILED_IN_A_ROW and self.stopped is None:
            self.stopped = f"{self._failed_in_a_row} samples in a row got no reply; the last one: {self.failures[key]}"

    def _plain(self, error: BaseException) -> str:
        """An error in one line that may be written down."""
        text = f"{type(error).__name__}: {error}"
        for secret in self._secrets:
            text = text.replace(secret, "(hidden)")
        return clip(text)

    def forget_failures(self) -> None:
        """Samples that failed so far will be asked again."""
        self.failures.clear()
        self._failed_in_a_row = 0

    def note_success(self, key: SampleKey) -> None:
        """A sample has its reply; one that was there already says nothing of the provider."""
        if key in self._answered_now:
            self._failed_in_a_row = 0


def _texts(messages: Sequence[ChatMessage]) -> Iterator[str]:
    """All that a model reads of a conversation, or has written."""
    for message in messages:
        yield message.text
        if not isinstance(message.content, str):
            yield from (part.reasoning for part in message.content if isinstance(part, ContentReasoning))
        if isinstance(message, ChatMessageAssistant):
            for call in message.tool_calls or ():
                yield call.function
                yield from (value if isinstance(value, str) else repr(value) for value in call.arguments.values())
        if isinstance(message, ChatMessageTool) and message.error is not None:
            yield message.error.message


def _believable(output: ModelOutput, provider: str, response: Any, *, silent: bool) -> TokenUsage | None:
    """The usage that was reported, or None when there is none, or none that can be: text without any token."""
    if output.usage is None:
        return None
    try:
        usage = usage_of(output.usage, provider, response)
    except ValueError:
        return None
    if max(usage.to_plain().values()) > _MOST_TOKENS:
        return None  # no context is as long; it would exceed every budget for good
    return usage if silent or usage.output_tokens else None


def _correct(output: ModelOutput, usage: TokenUsage) -> None:
    """Have Inspect's log show what was counted: its sums are those of the ledger."""
    counted = model_usage_of(usage)
    names = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write", "output_tokens", "reasoning_tokens")
    reported = output.usage
    if reported is not None and any((getattr(reported, name) or 0) != (getattr(counted, name) or 0) for name in names):
        output.usage = reported.model_copy(update=counted.model_dump(exclude_unset=True))
