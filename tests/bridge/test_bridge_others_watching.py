"""The watch between a scaffold's program and the model, without either: an agent of ours asks a scripted model."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from inspect_ai.agent import Agent, AgentState, agent
from inspect_ai.model import ChatMessage, ChatMessageTool, ChatMessageUser, Model
from scaffold_pieces import KEY, playing, turn

from benchwright.bridge.accounts import Account
from benchwright.bridge.scaffolds.watching import Watch, last_words, watch_calls
from benchwright.core.agents import AgentLimits
from benchwright.core.attempts import Ending
from benchwright.core.budget import TokenUsage

CALL = ("Bash", {"command": "true"})
FIRST: list[ChatMessage] = [ChatMessageUser(content="Mend it.")]
Act = Callable[[AgentState], Awaitable[None]]


def over() -> Account:
    """An account that is over its budget."""
    account = Account(KEY, AgentLimits(uncached_tokens=10), None)
    account.charge(TokenUsage(input_tokens=11))
    return account


def run(account: Account, act: Act, **more: Any) -> AgentState:
    """Let an agent act under a watch."""
    told: list[str] = []

    async def tell(account: Account) -> None:
        told.append(account.line())

    @agent(name="acting")
    def acting() -> Agent:
        async def execute(state: AgentState) -> AgentState:
            await act(state)
            return state

        return execute

    async def all_of_it() -> AgentState:
        with anyio.fail_after(30):
            return await Watch(account, **{"tell": tell, **more}).run(acting(), AgentState(messages=list(FIRST)))

    return asyncio.run(all_of_it())


def watched(*outputs: Any) -> Model:
    """A model whose calls pass the watch."""
    model = playing(list(outputs))
    watch_calls(model)
    return model


def test_a_call_over_the_budget_is_not_made_and_ends_the_agent() -> None:
    """Whatever the agent would do with an answer."""
    account, model = over(), watched(turn(text="never"))

    async def act(state: AgentState) -> None:
        try:
            await model.generate(state.messages)
        finally:
            assert account.ending is None
        raise AssertionError("it went on")

    run(account, act)
    assert account.ending is Ending.OUT_OF_BUDGET
    assert account.ending_detail == "11 uncached tokens were used, over the budget of 10"


def test_the_results_of_the_last_turn_are_kept() -> None:
    """They come with a call that is not made."""
    account, model = over(), watched()
    last = turn(CALL)
    made = last.message.tool_calls or []

    async def act(state: AgentState) -> None:
        state.messages, state.output = [*FIRST, last.message], last
        answer = ChatMessageTool(content="done", tool_call_id=made[0].id, function="Bash")
        await model.generate([*state.messages, answer])

    assert [message.text for message in run(account, act).messages] == ["Mend it.", "", "done"]


def test_a_call_beside_the_conversation_waits_for_the_last_turn_only_so_long() -> None:
    """A sub-agent's call is one, and the turn that started it would wait for its answer for ever."""
    account, model = over(), watched()

    async def act(state: AgentState) -> None:
        state.output = turn(CALL)
        await model.generate([ChatMessageUser(content="you are a sub-agent")])

    state = run(account, act, last_turn_seconds=0.0)
    assert account.ending is Ending.OUT_OF_BUDGET
    assert [message.text for message in state.messages] == ["Mend it."]


def test_an_error_of_the_model_ends_the_agent_and_comes_out() -> None:
    """Even when the agent has an answer to it."""

    def refuse(*request: Any) -> Any:
        raise ConnectionError("gone")

    account = Account(KEY, AgentLimits(), None)
    model = playing(refuse)
    watch_calls(model)

    async def act(state: AgentState) -> None:
        try:
            await model.generate(state.messages)
        except ConnectionError:
            await anyio.sleep_forever()

    with pytest.raises(ConnectionError, match="gone"):
        run(account, act)
    assert account.ending is None


def test_an_error_of_the_program_before_any_reply_comes_out() -> None:
    """It is nobody's answer."""

    async def act(state: AgentState) -> None:
        raise RuntimeError("no such option")

    with pytest.raises(RuntimeError, match="no such option"):
        run(Account(KEY, AgentLimits(), None), act)


def test_a_program_that_ends_without_a_call_is_no_answer() -> None:
    """As when it waits for a login that nobody gives."""

    async def act(state: AgentState) -> None:
        return

    with pytest.raises(RuntimeError, match="ended without having asked the model"):
        run(Account(KEY, AgentLimits(), None), act)


def test_a_program_that_fails_over_a_refusal_has_not_crashed() -> None:
    """Claude Code ends with an error after one."""
    account, model = Account(KEY, AgentLimits(), None), watched(turn(text="no", stop="content_filter"))

    async def act(state: AgentState) -> None:
        await model.generate(state.messages)
        raise RuntimeError("Error executing claude code agent 1: ")

    run(account, act)
    assert account.ending is Ending.REFUSED


@pytest.mark.parametrize(
    ("stop", "ending"),
    [("stop", Ending.SUBMITTED), ("content_filter", Ending.REFUSED), ("model_length", Ending.OVERFLOWED)],
)
def test_the_last_reply_of_a_program_that_ends_tells_the_ending(stop: Any, ending: Ending) -> None:
    """As Inspect's bridge has it in the state."""
    account, model = Account(KEY, AgentLimits(), None), watched(turn(text="no", stop=stop))

    async def act(state: AgentState) -> None:
        state.output = await model.generate(state.messages)

    run(account, act)
    assert account.ending is ending


def test_calls_outside_a_watch_are_made_as_they_are() -> None:
    """The same instance of a model serves other scaffolds, and trials before a run; watching twice changes nothing."""
    model = watched(turn(text="a"), turn(text="b"))
    generate = model.generate
    watch_calls(model)
    assert model.generate == generate
    assert asyncio.run(model.generate(list(FIRST))).completion == "a"
    assert asyncio.run(model.generate("Mend it.")).completion == "b"


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Error executing it 3: short", "Error executing it 3: short"),
        ("Error executing it 3: a banner\n" + "x " * 400 + "the reason", "Error executing it 3: …"),
        ("no colon", "no colon"),
    ],
)
def test_the_last_words_of_a_program_are_at_the_end(said: str, kept: str) -> None:
    """Programs say much before."""
    words = last_words(said)
    assert words.startswith(kept)
    assert words.endswith(said.split()[-1])
    assert len(words) < 300
