"""The meter of agents' runs: calls count for the run, and for the account of the sample that makes them.

Whoever asks on behalf of a sample, our loop or somebody else's program behind Inspect's bridge, does so in a task that
has the sample's `current_account`.  Calls without one, such as those that try a model out, count for the run alone.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any
from weakref import WeakKeyDictionary

from inspect_ai.model import ChatMessage, ContentReasoning, ContentText, ModelOutput

from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.accounts import Account, current_account
from benchwright.bridge.call_meter import CallMeter, Ended, Request, Send
from benchwright.core.attempts import Ending
from benchwright.core.budget import Ledger, Reservation
from benchwright.core.errors import BenchwrightError, MachineError
from benchwright.store.agent_journal import AgentCall
from benchwright.store.replies import Reply

_NOBODY = SampleKey("", 0)
"""Whose calls those without an account are, in the journal."""
_DEEPEST = 100
"""Levels of a call's arguments; Inspect allows as many where they come as text."""
_SURROGATE = re.compile("[\ud800-\udfff]")


class OverBudget(BenchwrightError):
    """The sample is over its budget; no call was made.  Handled by scaffolds, or else by the solver."""


class AgentMeter(CallMeter):
    """Counts, keeps and limits the calls of one model on behalf of agents."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        record: Callable[[AgentCall], None],
        tries: Callable[[str, int], int] = lambda problem_id, sample: 0,
        timeout: int | None = None,
        reply_tokens: int | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        """Make a meter.

        Args:
            ledger: What was spent, earlier invocations included, and what may be.
            record: Keeps a call that has ended; may raise `MachineError`, and then nothing more is asked.
            tries: How often a sample (its problem and number) was begun before.
            timeout: Seconds for one try of one call.
            reply_tokens: Most tokens of one reply, when the user has set a limit.
            secrets: Texts that no error may carry into a file; servers repeat keys that they refuse.
        """
        longest = max((entry.usage.output_tokens for entry in ledger.entries if entry.usage), default=0)
        super().__init__(ledger, timeout=timeout, reply_tokens=reply_tokens, secrets=secrets, longest=longest)
        self._record = record
        self._tries = tries
        self._try_numbers: WeakKeyDictionary[Account, int] = WeakKeyDictionary()
        self._failed_with: dict[SampleKey, str] = {}
        self._failed_messages: dict[SampleKey, list[ChatMessage]] = {}

    def failure(self, key: SampleKey) -> str | None:
        """The provider's last words to a sample whose last call failed; None when it did not, or there was none."""
        return self._failed_with.get(key)

    async def _call(self, request: Request, send: Send) -> Any:
        account = current_account.get(None)
        if account is None:
            return await self._measured(None, request, send)
        if account not in self._try_numbers:
            self._try_numbers[account] = self._tries(*account.key) + 1
            self._failed_with.pop(account.key, None)
        over = account.over
        if over is not None:
            raise OverBudget(over)

        async def send_it() -> Any:
            result = await send()
            _refuse_depth(result)
            return result

        result = await self._measured(account.key, request, send_it)
        _mend(result)
        return result

    def _overflowed(self, key: SampleKey | None, reply: Reply) -> ModelOutput:
        output = ModelOutput.from_content(reply.model, "", stop_reason="model_length")
        output.error = reply.ending_detail
        return output

    def _close(self, key: SampleKey | None, request: Request, reservation: Reservation, ended: Ended) -> None:
        """Charge a try to the run and to the account, and keep it."""
        whose = key or _NOBODY
        charge = self.ledger.settle(
            reservation,
            ended.usage,
            estimated_tokens=ended.estimated_tokens,
            failed=ended.reply is None,
            # Inspect repeats a call with the very same list of messages.
            retry=self._failed_messages.pop(whose, None) is request.messages,
        )
        self._failed_with.pop(whose, None)
        if ended.reply is None and not ended.given_up:
            self._failed_with[whose], self._failed_messages[whose] = ended.error, request.messages
        account = None if key is None else current_account.get()
        if account is not None:
            answered = ended.reply is not None and ended.reply.ending is not Ending.OVERFLOWED
            account.charge(ended.usage, charge.estimated, turn=answered)
        call = AgentCall(
            problem_id=whose.problem_id,
            sample=whose.sample,
            try_number=0 if account is None else self._try_numbers[account],
            charge=charge,
            error=ended.error,
            seconds=ended.seconds,
            at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        try:
            self._record(call)
        except MachineError as failure:
            self.give_up(failure)
            raise


def _mend(result: Any) -> None:
    """Put together or replace the lone surrogates in a model's words: as JSON escapes they are easily written.

    No text with one can be sent again or written into a log; Inspect would lose the whole log over it.
    """
    output, call = result if isinstance(result, tuple) else (result, None)
    for choice in getattr(output, "choices", ()):
        message = choice.message
        message.content = _mended(message.content)
        for tool_call in message.tool_calls or ():
            tool_call.function = _mended(tool_call.function)
            tool_call.arguments = _mended(tool_call.arguments)
            tool_call.parse_error = _mended(tool_call.parse_error)
    if isinstance(getattr(call, "response", None), dict):
        call.response = _mended(call.response)


def _refuse_depth(result: Any) -> None:
    """Arguments that are nested without end, which neither a count nor a log could hold, become a broken call."""
    output = result[0] if isinstance(result, tuple) else result
    for choice in getattr(output, "choices", ()):
        for tool_call in choice.message.tool_calls or ():
            if _too_deep(tool_call.arguments):
                tool_call.arguments, tool_call.parse_error = {}, f"The arguments are nested over {_DEEPEST} levels."


def _too_deep(value: Any) -> bool:
    """Whether values are nested so deeply that a log could not hold them."""
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for outer in level for inner in _inner(outer)]
        if not level:
            return False
    return True


def _inner(value: Any) -> Iterable[Any]:
    match value:
        case dict():
            return value.values()
        case list():
            return value
        case _:
            return ()


def _mended(value: Any) -> Any:
    match value:
        case str() if _SURROGATE.search(value):
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list():
            return [_mended(item) for item in value]
        case dict():
            return {_mended(name): _mended(item) for name, item in value.items()}
        case ContentText() | ContentReasoning():
            fields = {name: _mended(item) for name, item in dict(value).items()}
            return value.model_copy(update=fields)
        case _:
            return value
