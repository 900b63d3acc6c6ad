"""From a provider's output to a reply and back, and which errors say that the prompt is too long."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import (
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    StopReason,
)

from benchwright.bridge.replies import (
    attempt_of,
    clip,
    model_usage_of,
    output_of,
    overflow_of,
    reply_of,
    status_of,
    usage_of,
)
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.budget import TokenUsage
from benchwright.store.replies import Reply


def output(text: Any = "x = 1", stop: StopReason = "stop", written: int | None = 5, **changes: Any) -> ModelOutput:
    """What a provider returns; ``written`` None leaves the usage out."""
    made = ModelOutput.from_message(ChatMessageAssistant(content=text), stop_reason=stop)
    made.model = "served"
    made.usage = (
        None if written is None else ModelUsage(input_tokens=7, output_tokens=written, total_tokens=7 + written)
    )
    return made.model_copy(update=changes)


class StatusError(Exception):
    """An error as the clients of providers raise them."""

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status_code = status


@pytest.mark.parametrize(
    ("stop", "written", "ending"),
    [
        ("stop", 5, Ending.SUBMITTED),
        ("tool_calls", 5, Ending.SUBMITTED),
        ("unknown", 5, Ending.SUBMITTED),
        ("max_tokens", 5, Ending.TRUNCATED),
        ("max_tokens", None, Ending.TRUNCATED),
        ("model_length", 5, Ending.TRUNCATED),
    ],
)
def test_a_text_that_the_model_wrote_is_the_reply(stop: StopReason, written: int | None, ending: Ending) -> None:
    """Whatever ended it, what the model wrote is kept; cut by a limit of tokens or by a full context is truncated."""
    reply = reply_of(output(stop=stop, written=written))
    assert reply == Reply(text="x = 1", ending=ending, model="served")


@pytest.mark.parametrize("written", [None, 0])
def test_a_context_that_was_full_before_the_answer_began_overflowed(written: int | None) -> None:
    """Without a token written, the text of a full context is the server's message and no answer."""
    reply = reply_of(output("maximum context length is\n10 tokens", "model_length", written))
    assert (reply.text, reply.ending) == ("", Ending.OVERFLOWED)
    assert reply.ending_detail == "maximum context length is 10 tokens"
    assert reply_of(output("", "model_length", written)).ending_detail == "the context is full"


def test_a_filter_withholds_the_answer() -> None:
    """A filter's words stand in the ending's detail, wherever the provider put them, and nothing is graded."""
    said = reply_of(output("I cannot help with that.", "content_filter"))
    assert (said.text, said.ending, said.ending_detail) == ("", Ending.REFUSED, "I cannot help with that.")
    in_error = reply_of(output("", "content_filter", error="blocked: category 4"))
    assert (in_error.ending, in_error.ending_detail) == (Ending.REFUSED, "blocked: category 4")
    silent = reply_of(output("", "content_filter"))
    assert (silent.ending, silent.ending_detail) == (
        Ending.REFUSED,
        "the provider's filter withheld the answer",
    )


def test_an_output_without_choices_is_an_empty_answer() -> None:
    """A server that answers with no choice at all has submitted nothing."""
    assert reply_of(output(choices=[])) == Reply(text="", ending=Ending.SUBMITTED, model="served")


def test_an_empty_text_is_an_empty_answer() -> None:
    """No text with an orderly end is an answer, which is empty."""
    assert reply_of(output("")) == Reply(text="", ending=Ending.SUBMITTED, model="served")


def test_reasoning_stays_apart() -> None:
    """Reasoning that comes as parts of its own is kept, and is no part of the answer's text."""
    parts = [
        ContentReasoning(reasoning="first I think"),
        ContentText(text="def f():"),
        ContentReasoning(reasoning="then again"),
        ContentText(text="    pass"),
    ]
    reply = reply_of(output(parts))
    assert (reply.text, reply.reasoning) == ("def f():\n    pass", "first I think\nthen again")


def test_reasoning_alone_is_an_empty_answer() -> None:
    """A model that only thought has answered nothing, even when it was cut while thinking."""
    reply = reply_of(output([ContentReasoning(reasoning="hm")], "max_tokens"))
    assert reply == Reply(text="", reasoning="hm", ending=Ending.TRUNCATED, model="served")


texts = st.text(max_size=60)
counts = st.integers(0, 10**6)
usages = st.builds(
    lambda thought, said, **read: TokenUsage(output_tokens=1 + thought + said, reasoning_tokens=thought, **read),
    thought=counts,
    said=counts,
    input_tokens=counts,
    cache_read_tokens=counts,
    cache_write_tokens=counts,
)


@given(text=texts, reasoning=texts, ending=st.sampled_from([Ending.SUBMITTED, Ending.TRUNCATED]), usage=usages)
def test_a_reply_survives_the_way_through_inspect(text: str, reasoning: str, ending: Ending, usage: TokenUsage) -> None:
    """A stored reply that is played back is read as the same reply, with the same usage."""
    reply = Reply(text=text, reasoning=reasoning, ending=ending, model="served")
    played = output_of(reply, usage)
    assert reply_of(played) == reply
    assert played.usage is not None
    assert usage_of(played.usage) == usage


@pytest.mark.parametrize("ending", [Ending.OVERFLOWED, Ending.REFUSED])
def test_an_ending_without_an_answer_survives_it_too(ending: Ending) -> None:
    """What a filter or a full context said comes back as the ending's detail."""
    reply = Reply(text="", reasoning="hm", ending=ending, ending_detail="no room", model="served")
    assert reply_of(output_of(reply, None)) == reply


def test_a_log_says_that_a_reply_was_played_back() -> None:
    """A replayed output is marked, and has no usage when its call reported none."""
    played = output_of(Reply(text="x", ending=Ending.SUBMITTED), None)
    assert played.metadata == {"from_journal": True}
    assert played.usage is None


def test_usage_is_counted_once() -> None:
    """Cached tokens are apart from input, reasoning is within output, and what a provider leaves out is 0."""
    reported = ModelUsage(
        input_tokens=10,
        output_tokens=20,
        total_tokens=135,
        input_tokens_cache_read=100,
        input_tokens_cache_write=5,
        reasoning_tokens=8,
    )
    usage = usage_of(reported)
    assert usage == TokenUsage(
        input_tokens=10, cache_read_tokens=100, cache_write_tokens=5, output_tokens=20, reasoning_tokens=8
    )
    assert usage.total == 135
    assert model_usage_of(usage) == reported
    bare = usage_of(ModelUsage(input_tokens=1, output_tokens=2, total_tokens=3))
    assert (bare.cache_read_tokens, bare.cache_write_tokens, bare.reasoning_tokens) == (0, 0, 0)


@pytest.mark.parametrize(
    ("message", "status"),
    [
        # OpenAI and vLLM, older and newer
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.", 400),
        ("Error code: 400 - {'code': 'context_length_exceeded'}", 400),
        ("The decoder prompt (length 9001) is longer than the maximum model length; context length 512", 400),
        # llama.cpp
        ("request (9000 tokens) exceeds the available context size (512 tokens), try increasing it", 400),
        # Anthropic, Mistral, proxies
        ("prompt is too long: 210000 tokens > 200000 maximum", 400),
        ("Too many tokens: the total exceeds the model's limit", 400),
        ("too many input tokens", 413),
        ("Your input exceeds the context window of this model.", 400),
        # a local model, which has no server
        ("the prompt does not fit the context window", None),
    ],
)
def test_an_overflow_is_recognised_by_its_words(message: str, status: int | None) -> None:
    """What servers say of a prompt that is too long makes it the model's own limit, not a fault."""
    assert overflow_of(StatusError(message, status)) == message


TOO_LONG_A_REPLY = (
    "This model's maximum context length is 2048 tokens. However, you requested 2180 tokens (900 in the messages, "
    "1280 in the completion)."
)
"""The prompt would fit, but not with a reply as long as was asked for: a setting, not the model's limit."""


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("Invalid value for 'temperature'", 400),
        ("Unsupported parameter: 'max_tokens'", 400),
        ("Invalid API key", 401),
        ("You exceeded your quota: maximum context of your plan", 429),
        ("upstream failed while reading the context window", 502),
        ("", None),
        ("ThrottlingException: Too many tokens, please wait before trying again.", None),
        (TOO_LONG_A_REPLY, 400),
    ],
)
def test_other_errors_are_no_overflow(message: str, status: int | None) -> None:
    """Another error is none, also when a passing trouble of the server speaks of contexts."""
    assert overflow_of(StatusError(message, status)) is None


def test_the_status_of_an_error_is_found() -> None:
    """The status is the error's own or its response's; an error without an answer has none."""

    class WithResponse(Exception):
        response = StatusError("", 503)

    assert status_of(StatusError("", 429)) == 429
    assert status_of(WithResponse()) == 503
    assert status_of(ConnectionError("refused")) is None


def test_an_attempt_has_what_is_graded() -> None:
    """A reply becomes an attempt with its raw text and lead, and without its reasoning."""
    reply = Reply(text="    return 1", reasoning="hm", ending=Ending.TRUNCATED, model="served")
    assert attempt_of(reply, problem_id="p", sample=3, lead="def f():\n", model="asked for") == Attempt(
        problem_id="p",
        sample=3,
        solution=None,
        raw_text="    return 1",
        prefill="def f():\n",
        model="asked for",
        ending=Ending.TRUNCATED,
    )


def test_foreign_words_are_one_line() -> None:
    """What a provider says is put on one line of at most 300 characters."""
    assert clip("a\n  b\t c ") == "a b c"
    assert clip("x" * 300) == "x" * 300
    assert clip("x" * 301) == "x" * 299 + "…"
