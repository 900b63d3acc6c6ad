"""Between Inspect and the provider: every call is counted, kept and, when the budget says so, not made.

Inspect retries above this place, so that each try passes here: a call that is thrown away later is paid for all the
same, and is counted.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import anyio
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.inspect_private import AttemptTimeoutError
from benchwright.bridge.replies import clip, output_of, overflow_of, reply_of, status_of, usage_of
from benchwright.bridge.scoring import NOT_ASKED, PROBLEM
from benchwright.core.attempts import Ending
from benchwright.core.budget import Estimate, Fit, Ledger, Reservation, TokenUsage
from benchwright.core.errors import BenchwrightError, MachineError
from benchwright.store.replies import CallRecord, Reply, ReplyJournal

_CHARACTERS_PER_TOKEN = 2.5
"""Fewer than any tokenizer in use makes of English or code: an estimate before the call must not be too low."""
_UNKNOWN_OUTPUT_TOKENS = 4096
"""Expected of a reply without a limit of its own, until longer ones have been seen."""
_NOT_BILLED = (Ending.OVERFLOWED, Ending.REFUSED)
"""Endings that come without usage when the provider has answered with an error instead of calling the model."""
_UNREADABLE = (TypeError, ValueError, AttributeError, LookupError)
"""What clients raise over an answer that is not as they expect."""
MAX_FAILED_IN_A_ROW = 20
"""Samples that fail one after the other before the provider counts as gone."""


current: ContextVar[SampleKey] = ContextVar("benchwright_sample")


class NotAsked(BenchwrightError):
    """The run is being stopped; no call was made.  Handled by the solver of this module."""


class Meter:
    """Counts, keeps and limits the calls of one model in one run."""

    def __init__(
        self,
        journal: ReplyJournal,
        ledger: Ledger,
        *,
        timeout: int | None = None,
        reply_tokens: int | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        """Make a meter.

        Args:
            journal: Where calls are kept; a sample that has a reply there is not asked again.
            ledger: What was spent, earlier invocations included, and what may be.
            timeout: Seconds for one try of one call.
            reply_tokens: Most tokens of one reply, when the user has set a limit.
            secrets: Texts that no error may carry into a file; servers repeat keys that they refuse.
        """
        self._secrets = tuple(secrets)
        self._timeout = timeout
        self._reply_tokens = reply_tokens
        self._journal = journal
        self.ledger = ledger
        self._settled = asyncio.Event()
        self._longest = max((call.charge.usage.output_tokens for call in journal.calls if call.charge.usage), default=0)
        self._tried = {SampleKey(call.problem_id, call.sample) for call in journal.calls}
        self._failed_in_a_row = 0
        self._answered_now: set[SampleKey] = set()
        self.stopped: str | None = None
        """Why no further call is made; None while all is well."""
        self.fatal: Exception | None = None
        """What this machine could not do, or a bug; the run has to end with it."""
        self.failures: dict[SampleKey, str] = {}
        """Samples that stayed without a reply after all retries, with the provider's last words."""

    def attach(self, model: Model) -> None:
        """Put this meter between a model and its provider."""
        self._settled = asyncio.Event()  # anew: an event belongs to the loop it was first waited for in
        send = model.api.generate

        async def generate(input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig) -> Any:
            key = current.get()
            stored = self._journal.reply(*key)
            if stored is not None:
                return output_of(stored, self._journal.usage(*key))
            client = getattr(model.api, "client", None)  # some providers make it with their first call
            if client is not None and hasattr(client, "max_retries"):
                client.max_retries = 0  # or it would repeat calls below this place, unseen; Inspect repeats them
            return await self._measured(
                key, input, lambda: send(input=input, tools=tools, tool_choice=tool_choice, config=config)
            )

        # The instance's own attribute, so that any provider's class is served and none is changed.
        model.api.generate = generate  # type: ignore[method-assign]

    async def _measured(self, key: SampleKey, messages: list[ChatMessage], send: Callable[[], Any]) -> Any:
        reservation = await self._reserve(self._estimate(messages))
        started = time.monotonic()
        try:
            # Not Inspect's own limit for a try: waiting for room in the budget would count.
            with anyio.move_on_after(self._timeout) as patience:
                result = await send()
            if patience.cancelled_caught:
                raise AttemptTimeoutError(self._timeout)
        except BaseException as error:
            if self._failed(key, reservation, error, time.monotonic() - started):
                return self._overflowed(key)
            self._refuse_secrets(error)
            raise
        output = result[0] if isinstance(result, tuple) else result
        seconds = time.monotonic() - started
        if isinstance(output, Exception):
            if self._failed(key, reservation, output, seconds):
                return self._overflowed(key)
            self._refuse_secrets(output)
            return result
        self._answered(key, reservation, output, seconds)
        if not output.choices:  # Inspect would fail on it, but a server that answers nothing has answered
            output.choices = ModelOutput.from_content(output.model, "").choices
        return result

    def _answered(self, key: SampleKey, reservation: Reservation, output: ModelOutput, seconds: float) -> None:
        reply = reply_of(output)
        usage = _believable(output, reply)
        estimated = 0
        if usage is None and reply.ending not in _NOT_BILLED:
            written = int(len(reply.text + reply.reasoning) / _CHARACTERS_PER_TOKEN) + 1
            estimated = reservation.estimate.input_tokens + written
        self._longest = max(self._longest, usage.output_tokens if usage else 0)
        self._close(key, reservation, seconds, reply=reply, usage=usage, estimated=estimated)

    def _failed(self, key: SampleKey, reservation: Reservation, error: BaseException, seconds: float) -> bool:
        """Take note of a failed call; True when it failed because the prompt does not fit, which is an answer."""
        # An answer with an error status is not billed.  A call that broke off may be: at least its input counts.
        estimated = 0 if status_of(error) is not None else reservation.estimate.input_tokens
        if isinstance(error, _UNREADABLE) and estimated:
            estimated = reservation.estimate.tokens  # it did answer, in a way that the client cannot read
        overflow = overflow_of(error) if isinstance(error, Exception) else None
        reply = overflow and Reply(text="", ending=Ending.OVERFLOWED, ending_detail=overflow)
        words = self._plain(error)
        self._close(key, reservation, seconds, reply=reply or None, estimated=estimated, error=words)
        return reply is not None

    def _refuse_secrets(self, error: BaseException) -> None:
        """Raise in the place of an error that holds a secret: Inspect would write it into the log."""
        if any(secret in str(error) for secret in self._secrets):
            raise RuntimeError(self._plain(error)) from None

    def _overflowed(self, key: SampleKey) -> ModelOutput:
        reply = self._journal.reply(*key)
        assert reply is not None
        return output_of(reply, None)

    def _estimate(self, messages: list[ChatMessage]) -> Estimate:
        characters = sum(len(message.text) for message in messages)
        # The user's own limit: the largest that a provider allows, which Inspect may fill in, reserves far too much.
        output = self._reply_tokens or max(self._longest, _UNKNOWN_OUTPUT_TOKENS)
        return Estimate(input_tokens=int(characters / _CHARACTERS_PER_TOKEN) + 16, output_tokens=output)

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

    def _close(
        self,
        key: SampleKey,
        reservation: Reservation,
        seconds: float,
        *,
        reply: Reply | None,
        usage: TokenUsage | None = None,
        estimated: int = 0,
        error: str = "",
    ) -> None:
        """Charge a call that has ended, and keep it with its reply in one line: neither is there without the other."""
        charge = self.ledger.settle(
            reservation, usage, estimated_tokens=estimated, failed=reply is None, retry=key in self._tried
        )
        self._tried.add(key)
        if reply is not None:
            self._answered_now.add(key)
        self._settled.set()
        record = CallRecord(
            problem_id=key.problem_id,
            sample=key.sample,
            reply=reply,
            charge=charge,
            error=error,
            seconds=seconds,
            at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        try:
            self._journal.append(record)
        except MachineError as failure:
            self.give_up(failure)
            raise

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


def _believable(output: ModelOutput, reply: Reply) -> TokenUsage | None:
    """The usage that was reported, or None when there is none, or none that can be: text without any token."""
    if output.usage is None:
        return None
    try:
        usage = usage_of(output.usage)
    except ValueError:
        return None
    silent = usage.output_tokens == 0 and bool(reply.text or reply.reasoning)
    return None if silent else usage


def metered(meter: Meter) -> Solver:
    """The solver that asks through a meter: it names the sample to it, and passes over samples not to be asked."""

    @solver(name="ask")
    def make() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            key = SampleKey(state.metadata[PROBLEM], state.epoch - 1)
            token = current.set(key)
            try:
                state = await generate(state)
            except NotAsked as reason:
                state.metadata[NOT_ASKED] = str(reason)
            except Exception as error:
                meter.note_failure(key, error)
                raise
            else:
                meter.note_success(key)
            finally:
                current.reset(token)
            return state

        return solve

    return make()
