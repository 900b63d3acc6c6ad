"""What is counted, kept and held back between Inspect and a provider; the provider is a scripted one."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.model import ChatMessageUser, GenerateConfig, Model, ModelOutput, ModelUsage

from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.call_meter import MAX_FAILED_IN_A_ROW
from benchwright.bridge.metering import Meter, NotAsked, current
from benchwright.bridge.replies import reply_of
from benchwright.core.attempts import Ending
from benchwright.core.budget import Budget, Ledger, TokenUsage
from benchwright.core.errors import MachineError
from benchwright.store.replies import CallRecord, ReplyJournal

PROMPT = "x" * 250  # 100 tokens by the estimate, and 16 for what stands around a message
PROMPT_TOKENS = 116


class StatusError(Exception):
    """An answer with an error status."""

    def __init__(self, status: int, message: str = "as scripted") -> None:
        super().__init__(message)
        self.status_code = status


Outcome = ModelOutput | BaseException
Script = Callable[[SampleKey, int], Outcome | Awaitable[Outcome]]
"""From a sample and the number of the call (from 0) to what comes of it."""


def output(text: str = "x = 1", usage: tuple[int, int] | None = (100, 50)) -> ModelOutput:
    """What a provider returns."""
    made = ModelOutput.from_content("served", text)
    if usage is not None:
        read, written = usage
        made.usage = ModelUsage(input_tokens=read, output_tokens=written, total_tokens=read + written)
    return made


class Provider:
    """Stands where a provider's API stands in a model; some return errors together with the call instead of raising."""

    def __init__(self, script: Script, *, returns_errors: bool = False) -> None:
        self.script = script
        self.returns_errors = returns_errors
        self.sent: list[SampleKey] = []
        self.most_at_once = 0
        self._at_once = 0

    async def generate(self, **arguments: Any) -> Any:
        """One call."""
        key, number = current.get(), len(self.sent)
        self.sent.append(key)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            outcome = self.script(key, number)
            if isinstance(outcome, Awaitable):
                outcome = await outcome
        finally:
            self._at_once -= 1
        if isinstance(outcome, BaseException) and not self.returns_errors:
            raise outcome
        return (outcome, "the call") if self.returns_errors else outcome

    @property
    def model(self) -> Model:
        """A model that has this provider."""
        return cast(Model, SimpleNamespace(api=self))


async def ask(model: Model, key: SampleKey) -> Any:
    """One call as Inspect makes it."""
    current.set(key)
    return await model.api.generate(
        input=[ChatMessageUser(content=PROMPT)],
        tools=[],
        tool_choice="none",
        config=GenerateConfig(max_tokens=32_000),  # as Inspect fills in for some providers
    )


async def ask_all(model: Model, keys: Iterable[SampleKey], connections: int = 10) -> list[Any]:
    """Calls side by side, as many at once as there are connections; exceptions are results."""
    room = asyncio.Semaphore(connections)

    async def one(key: SampleKey) -> Any:
        async with room:
            return await ask(model, key)

    return await asyncio.gather(*(one(key) for key in keys), return_exceptions=True)


def samples(count: int) -> list[SampleKey]:
    """So many samples."""
    return [SampleKey(f"p{number}", 0) for number in range(count)]


@pytest.fixture
def journal(tmp_path: Path) -> Any:
    """An empty journal."""
    with ReplyJournal(tmp_path / "replies.jsonl") as opened:
        yield opened


def metered(
    provider: Provider,
    journal: ReplyJournal,
    max_tokens: int | None = None,
    reply_tokens: int | None = 50,
    timeout: Any = 600,
) -> tuple[Meter, Model]:
    """A meter attached to a model of that provider, for replies of at most so many tokens."""
    charges = (call.charge for call in journal.calls)
    ledger = Ledger.rebuilt(Budget(max_tokens=max_tokens), None, charges)
    meter = Meter(journal, ledger, timeout=timeout, reply_tokens=reply_tokens)
    model = provider.model
    meter.attach(model)
    return meter, model


def reported(journal: ReplyJournal) -> TokenUsage:
    """The sum of usage in a journal."""
    return sum((call.charge.usage for call in journal.calls if call.charge.usage), start=TokenUsage())


def test_a_call_is_charged_once_and_kept_with_its_reply(journal: ReplyJournal) -> None:
    """Every call makes one entry in the account and one line in the journal, which has the reply."""
    provider = Provider(lambda key, number: output(f"n = {number}"))
    meter, model = metered(provider, journal)
    results = asyncio.run(ask_all(model, samples(3)))
    assert [result.completion for result in results] == ["n = 0", "n = 1", "n = 2"]
    assert (meter.ledger.calls, meter.ledger.retries, meter.ledger.failures) == (3, 0, 0)
    assert meter.ledger.spent == reported(journal) == TokenUsage(input_tokens=300, output_tokens=150)
    assert meter.ledger.reserved.tokens == 0
    assert [call.reply and call.reply.text for call in journal.calls] == ["n = 0", "n = 1", "n = 2"]
    assert all(call.at.endswith("+00:00") and call.seconds >= 0 for call in journal.calls)


def test_a_result_passes_unchanged(journal: ReplyJournal) -> None:
    """Inspect gets what the provider returned, the call that goes with it included."""
    answer = output()
    _, model = metered(Provider(lambda key, number: answer, returns_errors=True), journal)
    assert asyncio.run(ask(model, SampleKey("p", 0))) == (answer, "the call")


def test_a_stored_reply_is_played_back(journal: ReplyJournal) -> None:
    """A sample with a reply in the journal is not asked again; its log gets the same answer and usage."""
    provider = Provider(lambda key, number: output("first"))
    _, model = metered(provider, journal)
    asyncio.run(ask(model, SampleKey("p", 0)))
    again = Provider(lambda key, number: output("second"))
    meter, model = metered(again, journal)
    played = asyncio.run(ask(model, SampleKey("p", 0)))
    assert (played.completion, played.usage.total_tokens) == ("first", 150)
    assert (again.sent, meter.ledger.calls) == ([], 1)
    asyncio.run(ask(model, SampleKey("p", 1)))
    assert again.sent == [SampleKey("p", 1)]


def test_the_clients_own_repeats_are_turned_off(journal: ReplyJournal) -> None:
    """Clients repeat calls below the place where they are counted, so they are told not to."""
    provider = Provider(lambda key, number: output())
    model = provider.model
    model.api.client = SimpleNamespace(max_retries=2)  # type: ignore[attr-defined]
    Meter(journal, Ledger(Budget(), None)).attach(model)
    asyncio.run(ask(model, SampleKey("p", 0)))
    assert model.api.client.max_retries == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("returns_errors", [False, True])
def test_an_error_status_is_counted_and_costs_nothing(journal: ReplyJournal, returns_errors: bool) -> None:
    """A call that is repeated counts as several; what was not answered was not billed, and is not charged."""

    def script(key: SampleKey, number: int) -> Outcome:
        return StatusError(429, "slow\ndown") if number < 2 else output()

    provider = Provider(script, returns_errors=returns_errors)
    meter, model = metered(provider, journal)
    for number in range(3):
        result = asyncio.run(ask_all(model, samples(1)))[0]
        if number < 2 and not returns_errors:
            assert isinstance(result, StatusError)
        if number < 2 and returns_errors:
            assert isinstance(result[0], StatusError)
    assert (meter.ledger.calls, meter.ledger.failures, meter.ledger.retries) == (3, 2, 2)
    assert meter.ledger.spent.total == 150
    assert meter.ledger.estimated.total == 0
    assert [call.error for call in journal.calls] == ["StatusError: slow down", "StatusError: slow down", ""]
    assert [call.reply is None for call in journal.calls] == [True, True, False]


@pytest.mark.parametrize("error", [ConnectionError("gone"), TimeoutError(), asyncio.CancelledError()])
def test_a_call_that_breaks_off_is_charged_by_estimate(journal: ReplyJournal, error: BaseException) -> None:
    """Nobody says what a call used that ended without an answer: its input is taken, apart from what was reported."""
    meter, model = metered(Provider(lambda key, number: output() if number else error), journal)

    async def twice() -> None:
        with pytest.raises(type(error)):
            await ask(model, SampleKey("p", 0))
        await ask(model, SampleKey("p", 0))

    asyncio.run(twice())
    assert meter.ledger.spent.total == 150
    assert meter.ledger.estimated == TokenUsage(input_tokens=PROMPT_TOKENS)
    assert (meter.ledger.calls, meter.ledger.failures, meter.ledger.retries) == (2, 1, 1)
    assert meter.ledger.reserved.tokens == 0


def test_a_call_that_takes_too_long_is_broken_off(journal: ReplyJournal) -> None:
    """After its time a call is given up with the error that Inspect repeats, and charged by estimate."""

    async def never() -> Outcome:
        await asyncio.Event().wait()
        raise AssertionError

    meter, model = metered(Provider(lambda key, number: output() if number else never()), journal, timeout=0.02)
    first, second = asyncio.run(ask_all(model, [SampleKey("p", 0)] * 2, connections=1))
    assert type(first).__name__ == "AttemptTimeoutError"
    assert isinstance(second, ModelOutput)
    assert [call.error.partition(":")[0] for call in journal.calls] == ["AttemptTimeoutError", ""]
    assert meter.ledger.estimated == TokenUsage(input_tokens=PROMPT_TOKENS)
    assert meter.ledger.reserved.tokens == 0


def test_waiting_for_room_is_no_part_of_a_calls_time(journal: ReplyJournal) -> None:
    """With room for one call at a time the last of many waits longer than a call may take, and is sent all the same."""
    provider = Provider(lambda key, number: asyncio.sleep(0.5, output(usage=(20, 10))))
    meter, model = metered(provider, journal, PROMPT_TOKENS + 50 + 5 * 30, timeout=2.0)
    results = asyncio.run(ask_all(model, samples(6)))
    assert [type(result) for result in results] == [ModelOutput] * 6
    assert provider.most_at_once == 1
    assert meter.ledger.failures == 0


def test_a_reply_without_usage_is_charged_by_estimate(journal: ReplyJournal) -> None:
    """A server that reports nothing is charged by the length of what was sent and came."""
    meter, model = metered(Provider(lambda key, number: output("y" * 100, usage=None)), journal)
    asyncio.run(ask(model, SampleKey("p", 0)))
    assert meter.ledger.spent.total == 0
    assert meter.ledger.estimated == TokenUsage(input_tokens=PROMPT_TOKENS, output_tokens=41)
    assert meter.ledger.failures == 0


@pytest.mark.parametrize("returns_errors", [False, True])
@pytest.mark.parametrize("status", [400, 413])
def test_a_prompt_that_is_too_long_is_answered(journal: ReplyJournal, returns_errors: bool, status: int) -> None:
    """An error that says so becomes a reply that is kept and graded, costs nothing and is not asked again."""
    error = StatusError(status, "maximum context length is 10 tokens")
    provider = Provider(lambda key, number: error, returns_errors=returns_errors)
    meter, model = metered(provider, journal)
    reply = reply_of(asyncio.run(ask(model, SampleKey("p", 0))))
    assert (reply.ending, reply.ending_detail) == (Ending.OVERFLOWED, "maximum context length is 10 tokens")
    assert journal.reply("p", 0) == reply
    assert (meter.ledger.spent.total, meter.ledger.estimated.total, meter.ledger.failures) == (0, 0, 0)
    asyncio.run(ask(model, SampleKey("p", 0)))
    assert len(provider.sent) == 1


@settings(max_examples=60, deadline=None)
@given(
    cap=st.integers(1, 3000),
    connections=st.integers(1, 12),
    costs=st.lists(st.tuples(st.integers(0, PROMPT_TOKENS), st.integers(1, 50)), min_size=1, max_size=25),
)
def test_a_budget_is_never_overrun(
    tmp_path_factory: pytest.TempPathFactory, cap: int, connections: int, costs: list[tuple[int, int]]
) -> None:
    """However many calls are in flight, the sum stays within the budget as long as replies keep to their limit.

    What is not sent then is what could not be paid for, and whoever waited has been told.
    """

    async def answer(number: int) -> Outcome:
        await asyncio.sleep(0)
        return output(usage=costs[number])

    with ReplyJournal(tmp_path_factory.mktemp("budget") / "replies.jsonl") as journal:
        provider = Provider(lambda key, number: answer(number))
        meter, model = metered(provider, journal, cap)
        results = asyncio.run(ask_all(model, samples(len(costs)), connections))
        spent = meter.ledger.spent.total
        assert spent == reported(journal).total == sum(sum(cost) for cost in costs[: len(provider.sent)])
        assert spent <= cap
        unasked = [result for result in results if isinstance(result, NotAsked)]
        assert len(provider.sent) == len(results) - len(unasked) == len(journal.calls)
        assert bool(unasked) == (meter.stopped is not None)
        if unasked:
            assert spent + PROMPT_TOKENS + 50 > cap
        assert meter.ledger.reserved.tokens == 0


def test_who_does_not_fit_now_waits_for_calls_in_flight(journal: ReplyJournal) -> None:
    """When calls in flight come out cheaper than they might have, the next ones are sent after all."""
    provider = Provider(lambda key, number: asyncio.sleep(0, output(usage=(20, 10))))
    room_for_two = 2 * (PROMPT_TOKENS + 50)
    meter, model = metered(provider, journal, room_for_two)
    results = asyncio.run(ask_all(model, samples(6)))
    assert all(isinstance(result, ModelOutput) for result in results)
    assert (provider.most_at_once, len(provider.sent), meter.stopped) == (2, 6, None)


def test_after_the_stop_nothing_is_sent(journal: ReplyJournal) -> None:
    """When what is left cannot pay for a call, all who wait and all who come are told so, with the numbers."""
    provider = Provider(lambda key, number: asyncio.sleep(0, output(usage=(PROMPT_TOKENS, 50))))
    meter, model = metered(provider, journal, 2 * (PROMPT_TOKENS + 50) + 20)
    results = asyncio.run(ask_all(model, samples(8)))
    assert [isinstance(result, NotAsked) for result in results] == [False] * 2 + [True] * 6
    assert len(provider.sent) == 2
    assert meter.stopped == "A call may use 166 tokens, but of the budget of 352 tokens 332 are spent already."
    assert isinstance(asyncio.run(ask_all(model, samples(9)[8:]))[0], NotAsked)
    assert len(provider.sent) == 2


def test_the_estimate_learns_from_long_replies(journal: ReplyJournal) -> None:
    """Without a limit of its own a reply is expected to be as long as the longest one so far, or 4,096 tokens."""
    provider = Provider(lambda key, number: output(usage=(100, 9000)))
    meter, model = metered(provider, journal, 10_000_000, reply_tokens=None)
    asyncio.run(ask(model, SampleKey("p", 0)))
    reserved: list[int] = []

    def look(key: SampleKey, number: int) -> Outcome:
        reserved.append(meter.ledger.reserved.output_tokens)
        return output()

    provider.script = look
    asyncio.run(ask(model, SampleKey("p", 1)))
    meter, model = metered(provider, journal, 10_000_000, reply_tokens=None)  # another invocation knows it too
    asyncio.run(ask(model, SampleKey("p", 2)))
    meter, model = metered(provider, journal, 10_000_000, reply_tokens=70)
    asyncio.run(ask(model, SampleKey("p", 3)))
    assert reserved == [9000, 9000, 70]


def test_waiting_works_in_one_event_loop_after_another(journal: ReplyJournal) -> None:
    """The preflight waits for room in a loop of its own, and the run in another one: neither disturbs the other.

    Both waited at one event once, which broke every waiting call of the run with a RuntimeError.
    """
    provider = Provider(lambda key, number: asyncio.sleep(0, output(usage=(5, 5))))
    meter, model = metered(provider, journal, PROMPT_TOKENS + 50 + 100)
    assert all(isinstance(result, ModelOutput) for result in asyncio.run(ask_all(model, samples(3))))
    second = Provider(provider.script).model
    meter.attach(second)
    results = asyncio.run(ask_all(second, samples(8)[3:]))
    assert [type(result) for result in results] == [ModelOutput] * 5


def test_spending_of_earlier_invocations_counts(tmp_path: Path) -> None:
    """Whoever goes on with a run has what was spent before in the account, and knows which calls are repeats."""
    with ReplyJournal(tmp_path / "replies.jsonl") as journal:
        _, model = metered(Provider(lambda key, number: output() if number else StatusError(500)), journal)
        asyncio.run(ask_all(model, samples(2)))
    with ReplyJournal(tmp_path / "replies.jsonl") as journal:
        _, model = metered(Provider(lambda key, number: output()), journal, 150 + PROMPT_TOKENS + 49)
        assert isinstance(asyncio.run(ask_all(model, samples(1)))[0], NotAsked)
        provider = Provider(lambda key, number: output())
        meter, model = metered(provider, journal, 150 + PROMPT_TOKENS + 50)
        asyncio.run(ask_all(model, samples(2)))
        assert (provider.sent, meter.ledger.spent.total) == ([SampleKey("p0", 0)], 300)
        assert (meter.ledger.calls, meter.ledger.retries, meter.ledger.failures) == (3, 1, 1)


class FullDisk(ReplyJournal):
    """A journal on a disk that takes one call and no more."""

    def append(self, call: CallRecord) -> None:
        """Refuse the second call."""
        if self.calls:
            raise MachineError("the disk is full")
        super().append(call)


def test_a_reply_that_cannot_be_kept_stops_the_run(tmp_path: Path) -> None:
    """When the journal takes no more, nothing more is asked, and the run knows what to end with."""
    with FullDisk(tmp_path / "replies.jsonl") as journal:
        provider = Provider(lambda key, number: output())
        meter, model = metered(provider, journal)
        results = asyncio.run(ask_all(model, samples(5), connections=1))
        assert [type(result) for result in results] == [ModelOutput, MachineError, NotAsked, NotAsked, NotAsked]
        assert (len(provider.sent), str(meter.fatal)) == (2, "the disk is full")
        assert meter.ledger.calls == 2


def test_the_first_obstacle_is_the_one_that_is_told(journal: ReplyJournal) -> None:
    """Giving up twice keeps the first reason, which caused the other."""
    meter, _ = metered(Provider(lambda key, number: output()), journal)
    meter.give_up(MachineError("first"))
    meter.give_up(MachineError("second"))
    assert (str(meter.fatal), meter.stopped) == ("first", "first")


def test_many_failures_in_a_row_stop_the_run(journal: ReplyJournal) -> None:
    """Twenty samples that stay without a reply, one after the other, mean that the provider is gone."""
    meter, model = metered(Provider(lambda key, number: output()), journal)
    keys = samples(2 * MAX_FAILED_IN_A_ROW)
    for key in keys[: MAX_FAILED_IN_A_ROW - 1]:
        meter.note_failure(key, StatusError(500))
    asyncio.run(ask(model, SampleKey("answered", 0)))
    meter.note_success(SampleKey("answered", 0))
    for key in keys[MAX_FAILED_IN_A_ROW : 2 * MAX_FAILED_IN_A_ROW - 1]:
        meter.note_failure(key, StatusError(500))
    assert meter.stopped is None
    wrapped = RuntimeError("the whole request")
    wrapped.__cause__ = StatusError(503, "all  servers\nare busy")
    meter.note_failure(keys[-1], wrapped)
    assert meter.stopped == ("20 samples in a row got no reply; the last one: StatusError: all servers are busy")
    with pytest.raises(NotAsked):
        asyncio.run(ask(model, SampleKey("another", 0)))
    assert meter.failures[keys[-1]] == "StatusError: all servers are busy"


def test_failures_of_a_preflight_are_forgotten(journal: ReplyJournal) -> None:
    """What failed among the first few is asked again with the others, and counts for no row of failures."""
    meter, _ = metered(Provider(lambda key, number: output()), journal)
    for key in samples(MAX_FAILED_IN_A_ROW - 1):
        meter.note_failure(key, StatusError(500))
    meter.forget_failures()
    meter.note_failure(SampleKey("p", 0), StatusError(500))
    assert (meter.stopped, list(meter.failures)) == (None, [SampleKey("p", 0)])


@pytest.mark.parametrize("usage", [(0, 0), (50, 0)])
def test_usage_that_cannot_be_counts_as_none(journal: ReplyJournal, usage: tuple[int, int]) -> None:
    """A reply has at least one token: a server that reports none has reported nothing, and the reply is kept."""
    _, model = metered(Provider(lambda key, number: output("x = 1", usage=usage)), journal)
    asyncio.run(ask(model, SampleKey("p", 0)))
    (call,) = journal.calls
    assert call.reply is not None
    assert call.reply.text == "x = 1"
    assert call.charge.usage is None
    assert call.charge.estimated_tokens > PROMPT_TOKENS


def test_a_negative_count_loses_no_reply(journal: ReplyJournal) -> None:
    """Servers that count cached tokens otherwise make Inspect's count of new ones negative; the reply is paid for."""
    meter, model = metered(Provider(lambda key, number: output("x = 1", usage=(-7, 5))), journal)
    asyncio.run(ask(model, SampleKey("p", 0)))
    assert journal.reply("p", 0) is not None
    assert meter.ledger.spent == TokenUsage(input_tokens=0, output_tokens=5)
    assert meter.ledger.reserved.tokens == 0


@pytest.mark.parametrize("returns_errors", [False, True])
def test_no_error_carries_a_secret_into_a_file(journal: ReplyJournal, returns_errors: bool) -> None:
    """Servers repeat the key they refuse: it is hidden in the journal, and in the error that goes on to the log."""

    def script(key: SampleKey, number: int) -> Outcome:
        return StatusError(401, "the key open-sesame-1234 \x1b[31m is wrong")

    provider = Provider(script, returns_errors=returns_errors)
    model = provider.model
    meter = Meter(journal, Ledger(Budget(), None), secrets=["open-sesame-1234"])
    meter.attach(model)
    with pytest.raises(RuntimeError, match="the key \\(hidden\\) "):
        asyncio.run(ask(model, SampleKey("p", 0)))
    assert "sesame" not in journal.path.read_text()
    assert "\x1b" not in journal.calls[0].error
