"""What a call has used, counted alike for every provider: each token once, reasoning within what was written.

Inspect's `ModelUsage` is filled by each provider's own code.  As of inspect_ai 0.3.285:

=========================  ========================  ==================================  =======================
provider                   ``input_tokens``          reasoning                           ``total_tokens``
=========================  ========================  ==================================  =======================
anthropic                  the provider's, which     within the output; an estimate      the sum, made by Inspect
                           leaves out the cache      where the API gives no count
bedrock                    likewise                  within the output, no count         the sum, made by Inspect
openai, and servers of     the prompt less cache     within the output at most servers;  the server's
its kind                   reads and writes          beside it at xAI; left out, but
                                                     in the total, at Google's
google                     the prompt less cache     Inspect adds it to the output       the server's; has prompts
                           reads                                                         of server tools as well
grok                       the prompt less cache     beside the output                   the server's, with
                           reads                                                         reasoning
groq, mistral, together,   the whole prompt: what    within the output, no count         the server's
azureai, hf, …             was cached is dropped
=========================  ========================  ==================================  =======================

So no table of providers decides, but the counts themselves, the provider's total being the witness:

1. What is read from a cache is no input.  Where Inspect drops the cached part, the raw response still has it.
2. Where cached tokens were not in the prompt from which Inspect took them off, they are put back: the input is
   negative (and is never less than 0), or the total is larger by just that number.  Where they are still in the input,
   they are taken off: the total is input and output alone.
3. Tokens of the total that no other count explains were written: reasoning beside the output, or not reported at all.
   At Google they are prompts of server tools, which is input.
4. More reasoning than output lies beside it, whatever the total says, unless the reasoning is an estimate.
"""

from collections.abc import Mapping
from typing import Any

from inspect_ai.model import Model, ModelUsage

from benchwright.core.budget import TokenUsage

_READS_BY_TOOLS = {"google"}
"""Their total has the prompts of server tools, which Inspect has no field for."""
_BESIDE_WITHOUT_TOTAL = {"grok"}
"""Reasoning is beside the output, as xAI documents, even where there is no total to tell it."""
_ESTIMATED_REASONING = {"anthropic"}
"""Inspect may have counted the tokens of a summary; the output's count is the provider's and holds all of it."""


def provider_of(model: Model) -> str:
    """The provider through which a model is asked, such as ``openai`` for ``openai/gpt-4o``."""
    return str(model).partition("/")[0]


def normalised(usage: ModelUsage, provider: str, response: Mapping[str, Any] | None = None) -> TokenUsage:
    """The tokens of one call, by the rules above; counts that are right already stay as they are.

    Args:
        usage: What Inspect has made of the provider's report.
        provider: As :func:`provider_of` says; an empty text where it is not known.
        response: The provider's response as Inspect keeps it with the call, where there is one.

    Raises:
        ValueError: The report cannot be: a count other than the input is negative.
    """
    read, stored = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    fresh, written, reasoning = usage.input_tokens, usage.output_tokens, usage.reasoning_tokens or 0
    if not read:
        read = _dropped_reads(response, fresh + stored)
        fresh -= read
    cached = read + stored
    gap = _gap(usage.total_tokens, fresh + cached + written)
    if fresh < 0 or (cached and gap == cached != reasoning):
        fresh = max(0, fresh + cached)
    elif cached and gap == -cached and fresh >= cached:
        fresh -= cached
    more = max(0, _gap(usage.total_tokens, fresh + cached + written))
    if provider in _READS_BY_TOOLS:
        fresh += more
    elif _lies_beside(reasoning, written + more, provider, has_total=usage.total_tokens > 0):
        written += reasoning
    else:
        written += more
    return TokenUsage(
        input_tokens=fresh,
        cache_read_tokens=read,
        cache_write_tokens=stored,
        output_tokens=written,
        reasoning_tokens=min(reasoning, written),
    )


def _gap(total: int, explained: int) -> int:
    """How many tokens of a total nothing explains; 0 when there is no total."""
    return total - explained if total > 0 else 0


def _lies_beside(reasoning: int, written: int, provider: str, *, has_total: bool) -> bool:
    if provider in _ESTIMATED_REASONING:
        return False
    return reasoning > written or (provider in _BESIDE_WITHOUT_TOTAL and not has_total)


def _dropped_reads(response: Mapping[str, Any] | None, prompt: int) -> int:
    """Tokens read from a cache as a response of the OpenAI kind has them: OpenAI's, DeepSeek's or Moonshot's field.

    0 when the response's prompt is not the one that was counted, as after several requests in one call.
    """
    usage = response.get("usage") if response is not None else None
    if not isinstance(usage, Mapping) or usage.get("prompt_tokens") != prompt:
        return 0
    details = usage.get("prompt_tokens_details")
    places = (
        details.get("cached_tokens") if isinstance(details, Mapping) else None,
        usage.get("prompt_cache_hit_tokens"),
        usage.get("cached_tokens"),
    )
    return next((count for count in places if type(count) is int and 0 < count <= prompt), 0)
