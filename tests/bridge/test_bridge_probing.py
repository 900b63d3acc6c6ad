"""The question before a run: whether a model calls tools."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, ModelOutput
from scaffold_pieces import USAGE, playing, turn
from tenacity import wait_none

from benchwright.bridge.agent_metering import AgentMeter
from benchwright.bridge.inspect_private import PrerequisiteError
from benchwright.bridge.models import OpenModel
from benchwright.bridge.probing import probe_tools
from benchwright.bridge.running import CallSettings
from benchwright.core.budget import Budget, Ledger
from benchwright.core.errors import UsageError
from benchwright.core.prompts import Mode
from benchwright.store.agent_journal import AgentCall

READY = turn(("ready", {}))


class Asked:
    """One probing, with what was charged for it."""

    def __init__(self, outputs: Any, budget: Budget | None = None, secrets: Sequence[str] = ()) -> None:
        self.calls: list[AgentCall] = []
        self.meter = AgentMeter(Ledger(budget or Budget(), None), record=self.calls.append, secrets=secrets)
        model = playing(outputs)
        api: Any = model.api
        api.retry_wait = wait_none
        opened = OpenModel(model=model, name="made/up", served_by="made", mode=Mode.CHAT, mode_reason="asked")
        self.objection = probe_tools(opened, CallSettings(max_retries=0), self.meter)


def test_a_model_that_calls_the_tool_is_taken() -> None:
    """One question, which counts for the run and for no sample."""
    asked = Asked([READY])
    assert asked.objection is None
    assert [(call.problem_id, call.try_number) for call in asked.calls] == [("", 0)]
    assert asked.meter.ledger.spent == USAGE


def test_a_model_may_need_a_second_question() -> None:
    """A model that talks first is asked again."""
    asked = Asked([turn(text="Hello!"), READY])
    assert asked.objection is None and len(asked.calls) == 2


def test_a_model_that_only_talks_is_told_of() -> None:
    """In one sentence, with what it said."""
    asked = Asked([turn(text="I would\n\nrather talk."), turn(text="Really.")])
    assert asked.objection is not None and "\n" not in asked.objection
    assert "made/up was asked 2 times to call a tool and did not (it said 'Really.')" in asked.objection
    assert "--no-preflight" in asked.objection


def test_a_long_answer_is_cut() -> None:
    """What it said is there to recognise it by."""
    asked = Asked([turn(text="word " * 1000), turn(text="word " * 1000)])
    assert asked.objection is not None and len(asked.objection) < 400


def test_a_model_that_says_nothing_is_told_of() -> None:
    """An empty answer is no tool call."""
    nothing = ModelOutput(model="mockllm", choices=[], usage=READY.usage)
    asked = Asked([nothing, nothing.model_copy(deep=True)])
    assert asked.objection is not None and "was asked 2 times" in asked.objection


def failing(error: Exception) -> Callable[..., ModelOutput]:
    """A provider that answers with an error."""

    def answer(messages: list[ChatMessage], *rest: Any) -> ModelOutput:
        raise error

    return answer


def test_an_error_of_the_provider_is_the_answer() -> None:
    """A server that takes no tools says so."""
    asked = Asked(failing(ValueError("this model does not support tools.\nSee our pages.")))
    assert asked.objection is not None and "\n" not in asked.objection
    assert "does not support tools. See our pages.  --no-preflight" in asked.objection
    assert len(asked.calls) == 1


def test_an_error_does_not_tell_a_key() -> None:
    """Servers repeat keys that they refuse."""
    asked = Asked(failing(ValueError("the key mykey-12345678 is refused")), secrets=["mykey-12345678"])
    assert asked.objection is not None and "mykey" not in asked.objection


def test_a_run_that_may_not_ask_is_not_held_up() -> None:
    """Its own cap stops it, with its own words."""
    asked = Asked([READY], budget=Budget(max_tokens=1))
    assert asked.objection is None and asked.calls == []
    assert asked.meter.stopped is not None and "budget of 1 tokens" in asked.meter.stopped


def test_what_inspect_lacks_is_the_users_to_mend() -> None:
    """Such as a package or a key that is missing."""
    with pytest.raises(UsageError, match="cannot be asked: there is no key"):
        Asked(failing(PrerequisiteError("[bold]ERROR[/bold]: there is no key")))
