"""What is counted of agents' calls, for the run and for each sample; a scripted provider, and real runs of Inspect."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    Model,
    ModelCall,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolCall, ToolCallError, ToolInfo
from scaffold_pieces import KEY, PRICE, SUBMIT, USAGE, bash, turn, work

from benchwright.benchmarks.base import SampleKey
from benchwright.bridge.accounts import Account, current_account
from benchwright.bridge.agent_metering import AgentMeter, OverBudget
from benchwright.bridge.call_meter import NotAsked
from benchwright.bridge.inspect_private import AttemptTimeoutError
from benchwright.bridge.scaffolds.loop import LoopScaffold
from benchwright.core.agents import AgentLimits, uncached
from benchwright.core.budget import NOTHING, Budget, Ledger, Price, TokenUsage
from benchwright.core.errors import MachineError
from benchwright.store.agent_journal import AgentCall

PROMPT = "x" * 250
PROMPT_TOKENS = 116  # by the estimate, with 16 for what stands around a message
Outcome = ModelOutput | BaseException | tuple[ModelOutput, Any]
Script = Callable[[int], Outcome | Awaitable[Outcome]]


class StatusError(Exception):
    """An answer with an error status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status_code = status


class Metered:
    """A meter on a model whose provider answers each call, by its number from 0, as a script says."""

    def __init__(
        self, script: Script, *, max_tokens: int | None = None, price: Price | None = None, **more: Any
    ) -> None:
        self.script = script
        self.sent = 0
        self.calls: list[AgentCall] = []
        more.setdefault("record", self.calls.append)
        self.meter = AgentMeter(Ledger(Budget(max_tokens=max_tokens), price), **more)
        self.model = cast(Model, SimpleNamespace(api=self))
        self.meter.attach(self.model)

    async def generate(self, **arguments: Any) -> Any:
        """One try, as it reaches the provider."""
        number, self.sent = self.sent, self.sent + 1
        outcome = self.script(number)
        if isinstance(outcome, Awaitable):
            outcome = await outcome
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def ask(self, account: Account | None, messages: list[ChatMessage] | None = None, tools: Any = ()) -> Any:
        """One try, as Inspect makes it in a task of the account's sample."""
        token = None if account is None else current_account.set(account)
        try:
            return await self.model.api.generate(
                input=[ChatMessageUser(content=PROMPT)] if messages is None else messages,
                tools=list(tools),
                tool_choice="auto",
                config=GenerateConfig(),
            )
        finally:
            if token is not None:
                current_account.reset(token)


def account(limits: AgentLimits | None = None, price: Price | None = None, key: SampleKey = KEY) -> Account:
    """A sample's account."""
    return Account(key, limits or AgentLimits(), price)


def test_a_call_counts_for_the_run_and_for_the_sample() -> None:
    """Tokens, money and turns; the call is kept with whose it was and which try of the sample asked."""
    metered = Metered(lambda number: turn(text="a"), price=PRICE, tries=lambda problem_id, sample: 2)
    ours = account(price=PRICE)
    asyncio.run(metered.ask(ours))
    asyncio.run(metered.ask(ours))
    assert metered.meter.ledger.spent == ours.reported == USAGE + USAGE
    assert (ours.turns, ours.spent.cost, metered.meter.ledger.cost) == (2, 0.0004, 0.0004)
    assert [(c.problem_id, c.sample, c.try_number, c.error) for c in metered.calls] == [("p", 0, 3, "")] * 2
    assert all(call.at.endswith("+00:00") and call.seconds >= 0 for call in metered.calls)
    assert [call.charge for call in metered.calls] == list(metered.meter.ledger.entries)


def test_calls_beside_the_samples_count_for_the_run() -> None:
    """What tries a model out belongs to nobody, and is kept all the same: whoever goes on must know of it."""
    metered = Metered(lambda number: turn())
    asyncio.run(metered.ask(None))
    assert metered.meter.ledger.spent == USAGE
    assert [(call.problem_id, call.sample, call.try_number) for call in metered.calls] == [("", 0, 0)]


def test_samples_are_counted_apart() -> None:
    """Calls side by side count for the sample whose task makes them."""
    metered = Metered(lambda number: asyncio.sleep(0, turn(usage=TokenUsage(input_tokens=number + 1, output_tokens=1))))
    both = [account(key=SampleKey("a", 0)), account(key=SampleKey("a", 1))]

    async def ask_all() -> None:
        await asyncio.gather(*(metered.ask(one) for one in [*both, *both, both[0]]))

    asyncio.run(ask_all())
    assert sorted(one.turns for one in both) == [2, 3]
    assert both[0].reported + both[1].reported == metered.meter.ledger.spent


@pytest.mark.parametrize("limits", [AgentLimits(uncached_tokens=109), AgentLimits(turns=1), AgentLimits(cost=0.0001)])
def test_an_exceeded_budget_lets_no_call_pass(limits: AgentLimits) -> None:
    """The call that goes over is answered; the next is not sent, whoever makes it."""
    metered = Metered(lambda number: turn(), price=PRICE)
    ours = account(limits, PRICE)
    asyncio.run(metered.ask(ours))
    with pytest.raises(OverBudget, match=r"over the budget of|turns were used"):
        asyncio.run(metered.ask(ours))
    assert (metered.sent, len(metered.calls), ours.turns) == (1, 1, 1)
    asyncio.run(metered.ask(account(limits, PRICE, SampleKey("other", 0))))
    assert metered.sent == 2


def test_the_whole_runs_cap_stops_everybody() -> None:
    """A call that the run cannot pay for is not sent, nor is any after it."""
    metered = Metered(lambda number: turn(), max_tokens=PROMPT_TOKENS + 60, reply_tokens=50)
    asyncio.run(metered.ask(account()))
    for _ in range(2):
        with pytest.raises(NotAsked, match="of the budget of 176 tokens 110 are spent already"):
            asyncio.run(metered.ask(account(key=SampleKey("q", 0))))
    assert (metered.sent, metered.meter.ledger.reserved.tokens) == (1, 0)
    assert metered.meter.stopped is not None


def test_who_does_not_fit_now_waits() -> None:
    """With room for one call at a time, all are made one after the other."""
    metered = Metered(
        lambda number: asyncio.sleep(0, turn(usage=TokenUsage(input_tokens=2, output_tokens=1))),
        max_tokens=PROMPT_TOKENS + 50 + 20,
        reply_tokens=50,
    )

    async def ask_all() -> list[Any]:
        return await asyncio.gather(*(metered.ask(account(key=SampleKey("q", n))) for n in range(5)))

    assert len(asyncio.run(ask_all())) == 5
    assert metered.meter.ledger.spent.total == 15


@pytest.mark.parametrize("error", [ConnectionError("gone"), TimeoutError("late")])
def test_a_try_that_breaks_off_counts_by_estimate_and_is_no_turn(error: Exception) -> None:
    """The provider may bill it; the try after it, with the same messages, is a repetition."""
    metered = Metered(lambda number: turn() if number else error)
    ours = account()
    messages: list[ChatMessage] = [ChatMessageUser(content=PROMPT)]
    with pytest.raises(type(error)):
        asyncio.run(metered.ask(ours, messages))
    assert (ours.turns, ours.estimated, ours.reported) == (0, TokenUsage(input_tokens=PROMPT_TOKENS), NOTHING)
    assert metered.meter.failure(KEY) == f"{type(error).__name__}: {error}"
    asyncio.run(metered.ask(ours, messages))
    asyncio.run(metered.ask(ours))
    assert (ours.turns, ours.reported, metered.meter.ledger.spent) == (2, USAGE + USAGE, USAGE + USAGE)
    assert [(call.charge.failed, call.charge.retry) for call in metered.calls] == [
        (True, False), (False, True), (False, False),
    ]  # fmt: skip
    assert metered.meter.failure(KEY) is None


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_an_answer_with_an_error_status_passes_and_costs_nothing(status: int) -> None:
    """It reaches Inspect as it is, and its words are kept."""
    error = StatusError(status, "no such\nmodel")
    metered = Metered(lambda number: error)
    ours = account()
    with pytest.raises(StatusError) as raised:
        asyncio.run(metered.ask(ours))
    assert raised.value is error
    assert (ours.spent.usage, ours.turns, metered.meter.ledger.estimated) == (NOTHING, 0, NOTHING)
    assert metered.calls[0].error == metered.meter.failure(KEY) == "StatusError: no such model"


def test_a_new_try_of_a_sample_has_not_failed() -> None:
    """What the provider said to a sample's earlier try is not what this one ended with."""
    metered = Metered(lambda number: asyncio.CancelledError() if number else ConnectionError("gone"))
    with pytest.raises(ConnectionError):
        asyncio.run(metered.ask(account()))
    assert metered.meter.failure(KEY) is not None

    async def broken_off() -> None:
        with pytest.raises(asyncio.CancelledError):
            await metered.ask(account())

    asyncio.run(broken_off())
    assert metered.meter.failure(KEY) is None  # our side broke it off
    assert metered.meter.ledger.failures == 2


def test_secrets_reach_neither_the_journal_nor_the_log() -> None:
    """A server that repeats a key which it refuses is quoted without it."""
    metered = Metered(lambda number: StatusError(401, "bad key hunter2hunter2"), secrets=["hunter2hunter2"])
    with pytest.raises(RuntimeError, match=r"bad key \(hidden\)"):
        asyncio.run(metered.ask(account()))
    assert "hunter2" not in metered.calls[0].error + str(metered.meter.failure(KEY))


def test_a_try_that_takes_too_long_is_given_up() -> None:
    """It is charged by estimate, and Inspect may try again."""

    async def never() -> Outcome:
        await asyncio.Event().wait()
        raise AssertionError

    metered = Metered(lambda number: never(), timeout=0.02)
    ours = account()
    with pytest.raises(AttemptTimeoutError):
        asyncio.run(metered.ask(ours))
    assert ours.estimated == TokenUsage(input_tokens=PROMPT_TOKENS)


def test_a_prompt_that_does_not_fit_is_an_answer() -> None:
    """It becomes a response without text that ended for its length; it costs nothing and is no turn."""
    metered = Metered(lambda number: StatusError(400, "maximum context length is 10 tokens"))
    ours = account()
    output = asyncio.run(metered.ask(ours))
    assert (output.stop_reason, output.completion) == ("model_length", "")
    assert output.error == "maximum context length is 10 tokens"
    assert (ours.turns, ours.spent.usage, metered.meter.ledger.failures) == (0, NOTHING, 0)
    assert metered.meter.failure(KEY) is None


def test_a_response_without_usage_counts_by_its_length() -> None:
    """Text, reasoning and arguments of calls; it is a turn, and kept apart from what was reported."""
    message = ChatMessageAssistant(
        content=[ContentReasoning(reasoning="r" * 50), ContentText(text="t" * 50)],
        tool_calls=[ToolCall(id="1", function="bash", arguments={"command": "c" * 146})],
    )
    metered = Metered(lambda number: ModelOutput.from_message(message))
    ours = account()
    asyncio.run(metered.ask(ours))
    assert ours.estimated == TokenUsage(input_tokens=PROMPT_TOKENS, output_tokens=101)
    assert (ours.reported, ours.turns, uncached(ours.spent.usage)) == (NOTHING, 1, PROMPT_TOKENS + 101)


def test_calls_without_any_token_are_not_believed() -> None:
    """A server that reports no output together with a call reports nothing."""
    metered = Metered(lambda number: turn(bash("true"), usage=TokenUsage(input_tokens=5)))
    ours = account()
    asyncio.run(metered.ask(ours))
    assert ours.reported == NOTHING
    assert ours.estimated.output_tokens == 4


def test_counts_that_no_model_reaches_are_not_believed() -> None:
    """They would exceed the budgets of sample and run for good."""
    metered = Metered(lambda number: turn(bash("true"), usage=TokenUsage(input_tokens=10**30, output_tokens=5)))
    ours = account()
    asyncio.run(metered.ask(ours))
    assert ours.reported == NOTHING and 0 < ours.estimated.total < 1000


def test_arguments_nested_without_end_are_a_call_that_cannot_be_read() -> None:
    """No log could hold them, and the sample would be lost over them."""
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    call = ToolCall(id="1", function="bash", arguments={"command": "true"})
    call.arguments["command"] = deep
    output = turn(text="")
    output.message.tool_calls = [call]
    metered = Metered(lambda number: output)
    asyncio.run(metered.ask(account()))
    assert call.arguments == {} and "nested" in (call.parse_error or "")
    assert output.model_dump_json()


def test_the_estimate_has_everything_that_is_read() -> None:
    """Arguments of calls, reasoning, answers and errors of tools, and the tools' descriptions; 25 characters each."""
    tool = ToolInfo(name="t", description="d" * 100)
    described = len(tool.model_dump_json())
    call = ToolCall(id="1", function="f" * 25, arguments={"a": "x" * 20, "b": [1, 2]})  # "[1, 2]" has six characters
    messages: list[ChatMessage] = [
        ChatMessageUser(content="u" * 25),
        ChatMessageAssistant(
            content=[ContentReasoning(reasoning="r" * 25), ContentText(text="s" * 24)], tool_calls=[call]
        ),
        ChatMessageTool(content="o" * 25, tool_call_id="1"),
        ChatMessageTool(content="", tool_call_id="2", error=ToolCallError("parsing", "e" * 25)),
    ]
    metered = Metered(lambda number: ConnectionError())
    with pytest.raises(ConnectionError):
        asyncio.run(metered.ask(account(), messages, [tool]))
    estimated = metered.meter.ledger.estimated.input_tokens
    assert estimated == int((25 + 25 + 24 + 25 + 26 + 25 + 25 + described) / 2.5) + 16


def test_the_log_shows_what_was_counted() -> None:
    """Counts that a provider reports in a form of its own are corrected in Inspect's log as well; others are left."""
    odd = ModelUsage(input_tokens=-50, input_tokens_cache_read=80, output_tokens=10, total_tokens=40)
    fine = ModelUsage(input_tokens=5, input_tokens_cache_read=0, output_tokens=10, total_tokens=15, total_cost=1.5)
    outputs = [turn(usage=None), turn(usage=None)]
    outputs[0].usage, outputs[1].usage = odd, fine
    metered = Metered(lambda number: (outputs[number], None))
    asyncio.run(metered.ask(None))
    asyncio.run(metered.ask(None))
    corrected = outputs[0].usage
    assert (corrected.input_tokens, corrected.input_tokens_cache_read, corrected.output_tokens) == (30, 80, 10)
    assert corrected.total_tokens == 120
    assert outputs[1].usage is fine
    assert metered.meter.ledger.spent == TokenUsage(input_tokens=35, cache_read_tokens=80, output_tokens=20)


def test_half_characters_are_mended() -> None:
    """A model may write JSON escapes of half a character; Inspect's log could not be written with one."""
    output = turn(bash("echo '\ud83d\ude00' \ud83d"), ("x", {"a": [{"\udc00": "b\udfff"}]}), text="c\ud800")
    reasoned = turn(text="")
    reasoned.message.content = [ContentReasoning(reasoning="d\ud800", signature="s"), ContentText(text="e\udc01")]
    call = ModelCall(request={}, response={"text": "f\ud800"})
    answers = [(output, call), reasoned]
    metered = Metered(lambda number: answers[number])
    mended, its_call = asyncio.run(metered.ask(account()))
    assert mended.message.text == "c\ufffd"
    assert [c.arguments for c in mended.message.tool_calls] == [
        {"command": "echo '\U0001f600' \ufffd"},
        {"a": [{"\ufffd": "b\ufffd"}]},
    ]
    assert its_call.response == {"text": "f\ufffd"}
    asyncio.run(metered.ask(account()))
    assert reasoned.model_dump_json()
    assert [part.model_dump(exclude_none=True)["type"] for part in reasoned.message.content] == ["reasoning", "text"]


def test_a_full_disk_stops_the_run() -> None:
    """What cannot be kept must not be asked for."""

    def full(call: AgentCall) -> None:
        raise MachineError("no room")

    metered = Metered(lambda number: turn(), record=full)
    with pytest.raises(MachineError):
        asyncio.run(metered.ask(account()))
    assert str(metered.meter.fatal) == metered.meter.stopped == "no room"
    with pytest.raises(NotAsked):
        asyncio.run(metered.ask(account()))
    assert metered.sent == 1


def loop(outputs: Any, folder: Path, **options: Any) -> Any:
    """Our loop with a shell alone, in a real run of Inspect."""
    return work(LoopScaffold(name="loop", tools=("bash", "submit"), folder=str(folder)), outputs, folder, **options)


counts = st.integers(0, 5000)
usages = st.builds(
    lambda fresh, read, stored, written, part: TokenUsage(
        input_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=stored,
        output_tokens=written,
        reasoning_tokens=written * part // 10,
    ),
    counts,
    counts,
    counts,
    st.integers(1, 5000),
    st.integers(0, 10),
)


@settings(max_examples=8, deadline=None)
@given(turns=st.lists(usages, min_size=1, max_size=5), price=st.sampled_from([None, PRICE]))
def test_the_ledgers_sums_are_those_of_inspects_log(
    tmp_path_factory: pytest.TempPathFactory, turns: list[TokenUsage], price: Price | None
) -> None:
    """Token by token, over several turns with cache reads, cache writes and reasoning; and so is the account."""
    outputs = [turn(bash("true"), usage=usage) for usage in turns[:-1]] + [turn(SUBMIT, usage=turns[-1])]
    worked = loop(outputs, tmp_path_factory.mktemp("sums"), price=price)
    logged = worked.log.stats.model_usage["mockllm/model"]
    assert logged == worked.sample.model_usage["mockllm/model"]
    total = sum(turns, start=NOTHING)
    assert worked.meter.ledger.spent == worked.account.reported == total
    assert logged.total_tokens == total.total
    assert (
        TokenUsage(
            input_tokens=logged.input_tokens,
            cache_read_tokens=logged.input_tokens_cache_read or 0,
            cache_write_tokens=logged.input_tokens_cache_write or 0,
            output_tokens=logged.output_tokens,
            reasoning_tokens=logged.reasoning_tokens or 0,
        )
        == total
    )
    assert worked.account.spent.cost == worked.meter.ledger.cost == (price and price.cost(total))
    assert sum((call.charge.usage for call in worked.calls), start=NOTHING) == total


def test_what_could_not_be_logged_is_mended_in_time(tmp_path: Path) -> None:
    """A run with half a character in a call has a log that can be read."""
    worked = loop([turn(bash("printf '\ud83d'")), turn(SUBMIT)], tmp_path)
    assert worked.sample.messages[1].tool_calls[0].arguments == {"command": "printf '\ufffd'"}


def test_the_cap_of_the_run_ends_a_sample_that_works(tmp_path: Path) -> None:
    """The solver is told that nothing was asked any more."""
    usage = TokenUsage(input_tokens=5000, output_tokens=1)
    with pytest.raises(NotAsked):
        loop([turn(bash("true"), usage=usage)] * 2, tmp_path, budget=Budget(max_tokens=9000))
