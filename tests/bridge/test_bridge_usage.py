"""Every provider's usage, in the shape its own client gives it, through Inspect's conversion: each token counted once.

Where a provider's client is not installed, its test is skipped; where Inspect converts in the middle of a function,
the `ModelUsage` is made as its line makes it.
"""

import asyncio
import importlib
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ModelCall, ModelOutput, ModelUsage, get_model

from benchwright.bridge.replies import model_usage_of, usage_of
from benchwright.bridge.usage import normalised, provider_of
from benchwright.core.agents import uncached
from benchwright.core.budget import TokenUsage


def counted(fresh: int, read: int, stored: int, written: int, reasoning: int = 0) -> TokenUsage:
    """What is expected, in the order input, cache reads, cache writes, output, reasoning."""
    return TokenUsage(
        input_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=stored,
        output_tokens=written,
        reasoning_tokens=reasoning,
    )


def provider(name: str, *needs: str) -> ModuleType:
    """Inspect's module for a provider; skips the test where the provider's client is not installed."""
    for package in needs:
        pytest.importorskip(package, reason=f"the client package {package} is not installed")
    return importlib.import_module(f"inspect_ai.model._providers.{name}")


# Anthropic


def anthropic_usage(details: dict[str, int] | None, blocks: list[dict[str, Any]], **counts: int) -> ModelUsage:
    """Inspect's counts of a message of the Anthropic client."""
    module = provider("anthropic", "anthropic")
    types = importlib.import_module("anthropic.types")
    message = types.Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [*blocks, {"type": "text", "text": "done"}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {**counts, "output_tokens_details": details},
        }
    )
    output, _ = asyncio.run(module.model_output_from_message(None, "claude-sonnet-4-5", message, []))
    assert isinstance(output.usage, ModelUsage)
    return output.usage


def test_anthropic() -> None:
    """The API leaves cached tokens out of the input, and thinking is within the output."""
    usage = anthropic_usage(
        {"thinking_tokens": 300},
        [{"type": "thinking", "thinking": "hm", "signature": "s"}],
        input_tokens=12,
        cache_read_input_tokens=9000,
        cache_creation_input_tokens=700,
        output_tokens=450,
    )
    assert normalised(usage, "anthropic") == counted(12, 9000, 700, 450, 300)
    assert uncached(normalised(usage, "anthropic")) == 12 + 700 + 450


def test_an_estimate_of_thinking_adds_nothing_at_anthropic() -> None:
    """Without a count of the API's, Inspect has the thinking's text counted, which may give more than was billed."""
    usage = anthropic_usage(None, [], input_tokens=12, output_tokens=450)
    estimated = usage.model_copy(update={"reasoning_tokens": 500})
    assert normalised(estimated, "anthropic") == counted(12, 0, 0, 450, 450)


# OpenAI


def response_usage(**counts: Any) -> ModelUsage:
    """Inspect's counts of a Responses API usage of the OpenAI client."""
    provider("openai_responses", "openai")
    types = importlib.import_module("openai.types.responses.response_usage")
    convert = importlib.import_module("inspect_ai.model._openai_responses").model_usage_from_response_usage
    usage = convert(types.ResponseUsage.model_validate(counts))
    assert isinstance(usage, ModelUsage)
    return usage


def test_openai_responses() -> None:
    """The input has the cached tokens in it, the output the reasoning."""
    usage = response_usage(
        input_tokens=10_000,
        input_tokens_details={"cached_tokens": 8000, "cache_write_tokens": 500},
        output_tokens=900,
        output_tokens_details={"reasoning_tokens": 640},
        total_tokens=10_900,
    )
    assert normalised(usage, "openai") == counted(1500, 8000, 500, 900, 640)


def chat_usage(usage: dict[str, Any]) -> tuple[ModelUsage, dict[str, Any]]:
    """Inspect's counts of a chat completion with this usage, and the response as Inspect keeps it."""
    pytest.importorskip("openai", reason="the client package openai is not installed")
    convert = importlib.import_module("inspect_ai.model._openai").model_output_from_openai
    completion = importlib.import_module("openai.types.chat").ChatCompletion.model_validate(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [],
            "usage": usage,
        }
    )
    made = convert(completion, []).usage
    assert isinstance(made, ModelUsage)
    return made, completion.model_dump()


CHAT: dict[str, tuple[dict[str, Any], TokenUsage]] = {
    "openai": (
        {
            "prompt_tokens": 1486,
            "completion_tokens": 651,
            "total_tokens": 2137,
            "prompt_tokens_details": {"cached_tokens": 1408, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 512, "audio_tokens": 0},
        },
        counted(78, 1408, 0, 651, 512),
    ),
    "openrouter, of Anthropic's models": (
        {
            "prompt_tokens": 5000,
            "completion_tokens": 200,
            "total_tokens": 5200,
            "prompt_tokens_details": {"cached_tokens": 4000, "cache_write_tokens": 600},
            "completion_tokens_details": {"reasoning_tokens": 50},
        },
        counted(400, 4000, 600, 200, 50),
    ),
    # Counts of a call of grok-4, with the sum 10120 + 1499 + 2809: https://github.com/Wei-Shaw/sub2api/issues/5771
    "xAI's OpenAI-compatible server": (
        {
            "prompt_tokens": 10120,
            "completion_tokens": 1499,
            "total_tokens": 14428,
            "prompt_tokens_details": {"cached_tokens": 128},
            "completion_tokens_details": {"reasoning_tokens": 2809},
        },
        counted(9992, 128, 0, 1499 + 2809, 2809),
    ),
    # Counts as users see them: https://discuss.ai.google.dev/t/question-with-usage-in-openai-compatibility/98760
    "Google's OpenAI-compatible server": (
        {"prompt_tokens": 758, "completion_tokens": 102, "total_tokens": 1725},
        counted(758, 0, 0, 1725 - 758),
    ),
    "deepseek": (
        {
            "prompt_tokens": 3000,
            "completion_tokens": 400,
            "total_tokens": 3400,
            "prompt_tokens_details": {"cached_tokens": 2048},
            "completion_tokens_details": {"reasoning_tokens": 300},
            "prompt_cache_hit_tokens": 2048,
            "prompt_cache_miss_tokens": 952,
        },
        counted(952, 2048, 0, 400, 300),
    ),
    "deepseek, with its own fields only": (
        {
            "prompt_tokens": 3000,
            "completion_tokens": 400,
            "total_tokens": 3400,
            "prompt_cache_hit_tokens": 2048,
            "prompt_cache_miss_tokens": 952,
        },
        counted(952, 2048, 0, 400),
    ),
    "moonshot": (
        {"prompt_tokens": 3000, "completion_tokens": 400, "total_tokens": 3400, "cached_tokens": 1024},
        counted(1976, 1024, 0, 400),
    ),
    "vllm": (
        {"prompt_tokens": 900, "completion_tokens": 30, "total_tokens": 930, "prompt_tokens_details": None},
        counted(900, 0, 0, 30),
    ),
    "vllm with prefix caching": (
        {
            "prompt_tokens": 900,
            "completion_tokens": 30,
            "total_tokens": 930,
            "prompt_tokens_details": {"cached_tokens": 880},
        },
        counted(20, 880, 0, 30),
    ),
    "a proxy whose prompt leaves the cache out": (
        {
            "prompt_tokens": 60,
            "completion_tokens": 30,
            "total_tokens": 90,
            "prompt_tokens_details": {"cached_tokens": 4000},
        },
        counted(60, 4000, 0, 30),
    ),
    "a proxy whose prompt leaves the cache out, but not its total": (
        {
            "prompt_tokens": 6000,
            "completion_tokens": 30,
            "total_tokens": 10_030,
            "prompt_tokens_details": {"cached_tokens": 4000},
        },
        counted(6000, 4000, 0, 30),
    ),
    "a server whose total forgets reasoning as well": (
        {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "total_tokens": 15,
            "completion_tokens_details": {"reasoning_tokens": 40},
        },
        counted(10, 0, 0, 45, 40),
    ),
    "a server without a total": (
        {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 0},
        counted(10, 0, 0, 5),
    ),
}


@pytest.mark.parametrize("server", CHAT)
def test_chat_completions(server: str) -> None:
    """What servers of the OpenAI kind report for a chat completion is understood from the counts themselves."""
    raw, expected = CHAT[server]
    usage, response = chat_usage(raw)
    assert normalised(usage, "openai-api", response) == expected


def test_openrouter_with_the_fields_of_anthropic() -> None:
    """Cache writes under Anthropic's name, which Inspect reads for OpenRouter alone, are within the prompt."""
    module = provider("openrouter", "openai")
    raw = {"prompt_tokens": 5000, "completion_tokens": 200, "total_tokens": 5200, "cache_creation_input_tokens": 600}
    usage, response = chat_usage(raw)
    output = ModelOutput(model="m", usage=usage)
    module._apply_cache_creation_usage(output, ModelCall(request={}, response=response))
    assert output.usage is not None
    assert normalised(output.usage, "openrouter", response) == counted(4400, 0, 600, 200)


# Google


def google_usage(**counts: int | None) -> ModelUsage:
    """Inspect's counts of a usage of the google-genai client."""
    module = provider("google", "google.genai")
    types = importlib.import_module("google.genai.types")
    usage = module.usage_metadata_to_model_usage(types.GenerateContentResponseUsageMetadata(**counts))
    assert isinstance(usage, ModelUsage)
    return usage


def test_google() -> None:
    """The prompt has the cached tokens in it; thoughts are not among the candidates' tokens, and are counted once."""
    usage = google_usage(
        prompt_token_count=6000,
        cached_content_token_count=5500,
        candidates_token_count=120,
        thoughts_token_count=2300,
        total_token_count=6000 + 120 + 2300,
    )
    assert normalised(usage, "google") == counted(500, 5500, 0, 2420, 2300)


def test_google_with_thoughts_alone() -> None:
    """A reply that was cut while thinking has no candidates at all, and its thoughts were paid for."""
    usage = google_usage(
        prompt_token_count=50, candidates_token_count=None, thoughts_token_count=800, total_token_count=850
    )
    assert normalised(usage, "google") == counted(50, 0, 0, 800, 800)


def test_google_with_prompts_of_its_own_tools() -> None:
    """What a server tool gave the model to read is in the total only, and is input."""
    usage = google_usage(
        prompt_token_count=50, tool_use_prompt_token_count=400, candidates_token_count=20, total_token_count=470
    )
    assert normalised(usage, "google") == counted(450, 0, 0, 20)


# xAI


def test_grok() -> None:
    """xAI counts reasoning beside the completion, and Inspect's provider leaves it there."""
    module = provider("grok", "xai_sdk", "grpc")
    report = SimpleNamespace(
        prompt_tokens=10120,
        cached_prompt_text_tokens=128,
        completion_tokens=1499,
        reasoning_tokens=2809,
        total_tokens=14428,
    )
    usage = module._model_usage_from_sampling_usage(report)
    assert normalised(usage, "grok") == counted(9992, 128, 0, 4308, 2809)


# As grok.py fills it: completion_tokens goes into output_tokens as it is, and the prompt's cached tokens are taken off.
GROK = ModelUsage(
    input_tokens=10120 - 128,
    output_tokens=1499,
    total_tokens=14428,
    input_tokens_cache_read=128,
    reasoning_tokens=2809,
)


@pytest.mark.parametrize(
    ("changes", "written"),
    [
        ({}, 1499 + 2809),
        ({"total_tokens": 0}, 1499 + 2809),
        ({"reasoning_tokens": 900, "total_tokens": 10120 + 1499 + 900}, 1499 + 900),
        ({"reasoning_tokens": 900, "total_tokens": 0}, 1499 + 900),
        # should Inspect add the reasoning one day, as it does for Google: https://github.com/UKGovernmentBEIS/inspect_ai/issues/5528
        ({"output_tokens": 1499 + 2809}, 1499 + 2809),
    ],
)
def test_grok_as_inspect_fills_it(changes: dict[str, int], written: int) -> None:
    """Reasoning is counted once, whether it is more than the answer or less, with a total and without."""
    usage = normalised(GROK.model_copy(update=changes), "grok")
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (9992, 128, written)


# Bedrock, Mistral, Groq, Together


def test_bedrock() -> None:
    """Converse reports cached tokens apart from the input; Inspect makes the sum itself."""
    module = provider("bedrock", "aiobotocore")
    report = {
        "inputTokens": 10,
        "outputTokens": 200,
        "totalTokens": 4810,
        "cacheReadInputTokens": 4000,
        "cacheWriteInputTokens": 600,
    }
    response = module.ConverseResponse.model_validate(
        {
            "output": {"message": {"role": "assistant", "content": [{"text": "done"}]}},
            "stopReason": "end_turn",
            "usage": report,
            "metrics": {"latencyMs": 1},
        }
    )
    usage = module.model_output_from_response("m", response, []).usage
    assert normalised(usage, "bedrock") == counted(10, 4000, 600, 200)


@pytest.mark.parametrize("name", ["mistral", "groq", "together", "azureai"])
def test_providers_whose_cached_tokens_inspect_drops(name: str) -> None:
    """The whole prompt is input, unless the response says how much of it was cached.

    mistral.py, groq.py, together.py and azureai.py all make it from prompt, completion and total alone.
    """
    usage = ModelUsage(input_tokens=3000, output_tokens=400, total_tokens=3400)
    reported = {"prompt_tokens": 3000, "completion_tokens": 400, "total_tokens": 3400}
    response = {"usage": {**reported, "prompt_tokens_details": {"cached_tokens": 2560}}}
    assert normalised(usage, name) == normalised(usage, name, {"usage": reported}) == counted(3000, 0, 0, 400)
    assert normalised(usage, name, response) == counted(440, 2560, 0, 400)


def test_a_response_of_another_request_is_not_read() -> None:
    """Where a call took several requests, the one response that is kept does not speak for all of them."""
    usage = ModelUsage(input_tokens=5000, output_tokens=400, total_tokens=5400)
    response = {"usage": {"prompt_tokens": 3000, "prompt_tokens_details": {"cached_tokens": 2560}}}
    assert normalised(usage, "groq", response) == counted(5000, 0, 0, 400)
    for odd in ({}, {"usage": None}, {"usage": {"prompt_tokens": 5000, "cached_tokens": "many"}}):
        assert normalised(usage, "groq", odd) == counted(5000, 0, 0, 400)


# Whoever it is


def test_a_provider_that_leaves_cached_tokens_in_the_input() -> None:
    """A total of input and output alone says that the input holds what was read from the cache."""
    usage = ModelUsage(input_tokens=5000, output_tokens=100, total_tokens=5100, input_tokens_cache_read=4000)
    assert normalised(usage, "of-somebody-else") == counted(1000, 4000, 0, 100)


def test_a_report_that_cannot_be() -> None:
    """A negative count is no report."""
    with pytest.raises(ValueError, match="output_tokens"):
        normalised(ModelUsage(input_tokens=1, output_tokens=-1, total_tokens=0), "openai")


counts = st.integers(0, 10**6)


@given(fresh=counts, read=counts, stored=counts, said=counts, thought=counts, name=st.sampled_from(["", "google", "x"]))
def test_right_counts_stay(fresh: int, read: int, stored: int, said: int, thought: int, name: str) -> None:
    """What is counted once already is not changed, so that a log and a ledger can hold the same numbers."""
    usage = counted(fresh, read, stored, said + thought, thought)
    assert normalised(model_usage_of(usage), name) == usage


@given(prompt=counts, cached=counts, said=counts, thought=counts)
def test_reasoning_is_counted_once_wherever_it_is(prompt: int, cached: int, said: int, thought: int) -> None:
    """Within the output or beside it, with the same prompt, gives the same uncached tokens."""
    cached = min(cached, prompt)
    read = {"input_tokens": prompt - cached, "input_tokens_cache_read": cached, "reasoning_tokens": thought}
    total = prompt + said + thought
    within = ModelUsage(output_tokens=said + thought, total_tokens=total, **read)
    beside = ModelUsage(output_tokens=said, total_tokens=total, **read)
    for usage in (within, beside):
        found = normalised(usage, "x")
        assert (found.output_tokens, found.cache_read_tokens) == (said + thought, cached)
        assert uncached(found) == total - cached


def test_the_function_track_counts_the_same() -> None:
    """Replies of single calls are charged by the same rules."""
    assert usage_of(GROK) == normalised(GROK, "grok")


def test_the_provider_is_the_first_part_of_the_name() -> None:
    """As Inspect names models, whatever stands behind it."""
    assert provider_of(get_model("mockllm/a/b", memoize=False)) == "mockllm"
