"""From what Inspect's providers return to a reply, and from a reply to an attempt."""

import re
from collections.abc import Mapping
from typing import Any

from inspect_ai.model import (
    ChatMessageAssistant,
    Content,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
    StopReason,
)

from benchwright.bridge.usage import normalised
from benchwright.core.attempts import Attempt, Ending
from benchwright.core.budget import TokenUsage
from benchwright.store.replies import Reply

# How servers of the OpenAI kind say that a prompt is too long, where they have no code for it.
_OVERFLOW = re.compile(
    r"context[_ ]length|context[_ ]size|context window|maximum context|prompt is too long|too many input tokens",
    re.IGNORECASE,
)
# The prompt fits, but not together with the reply that was asked for: that is a setting, not the model's limit.
_TOO_MUCH_ASKED = re.compile(
    r"\d+ (?:tokens )?in the completion|`?max_(?:completion_)?tokens`? (?:is|are|=)", re.IGNORECASE
)
_KEY = re.compile(r"\b(?:sk|pk|rk|ghp|gho|xoxb|hf|AIza)[-_]?[A-Za-z0-9_*-]{12,}")
_DETAIL_CHARACTERS = 300
_STOPS: dict[Ending, StopReason] = {
    Ending.TRUNCATED: "max_tokens",
    Ending.OVERFLOWED: "model_length",
    Ending.REFUSED: "content_filter",
}


def reply_of(output: ModelOutput) -> Reply:
    """The reply in a provider's output.

    Reasoning that the provider keeps apart stays apart.  A filter's or a full context's message that comes in the
    place of an answer is the ending's detail, not an answer.
    """
    text, reasoning = "", ""
    if output.choices:
        text, reasoning = _parts(output)
    ending, detail = _ending(output, text)
    if detail:
        text = ""
    return Reply(text=text, reasoning=reasoning, ending=ending, ending_detail=detail, model=output.model)


def _parts(output: ModelOutput) -> tuple[str, str]:
    content = output.message.content
    if isinstance(content, str):
        return content, ""
    texts = [part.text for part in content if isinstance(part, ContentText)]
    thoughts = [part.reasoning for part in content if isinstance(part, ContentReasoning)]
    return "\n".join(texts), "\n".join(thoughts)


def _ending(output: ModelOutput, text: str) -> tuple[Ending, str]:
    answered = output.usage is not None and output.usage.output_tokens > 0
    match output.stop_reason if output.choices else "unknown":
        case "max_tokens":
            return Ending.TRUNCATED, ""
        case "model_length":
            # The context was full before the answer began, or in the middle of it.
            return (Ending.TRUNCATED, "") if answered else (Ending.OVERFLOWED, clip(text or "the context is full"))
        case "content_filter":
            words = clip(text or output.error or "the provider's filter withheld the answer")
            return Ending.REFUSED, words
        case _:
            return Ending.SUBMITTED, ""


def overflow_of(error: BaseException) -> str | None:
    """The message of an error that says that the prompt does not fit the model's context, or None."""
    text = str(error)
    status = status_of(error)
    if status not in (400, 413, 422, None) or _TOO_MUCH_ASKED.search(text):
        return None
    # Without a status these words may as well be about the rate of calls.
    too_long = _OVERFLOW.search(text) or (status is not None and "too many tokens" in text.lower())
    return clip(text) if too_long else None


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error carries, or None when there was no response.

    Clients keep it in different places: as ``status_code`` of the error or of its response (OpenAI, Anthropic), as
    ``code`` (google-genai), or in a dictionary (botocore).
    """
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        metadata = response.get("ResponseMetadata")
        places = [metadata.get("HTTPStatusCode") if isinstance(metadata, dict) else None]
    else:
        places = [
            getattr(error, "status_code", None),
            getattr(response, "status_code", None),
            getattr(error, "code", None),
        ]
    return next((place for place in places if isinstance(place, int)), None)


def output_of(reply: Reply, usage: TokenUsage | None) -> ModelOutput:
    """A stored reply as a provider would return it, so that a log made later holds it like any other."""
    text = reply.ending_detail or reply.text
    content: list[Content] = [ContentReasoning(reasoning=reply.reasoning)] if reply.reasoning else []
    message = ChatMessageAssistant(content=[*content, ContentText(text=text)] if content else text, model=reply.model)
    output = ModelOutput.from_message(message, stop_reason=_STOPS.get(reply.ending, "stop"))
    output.model = reply.model
    output.usage = None if usage is None else model_usage_of(usage)
    output.metadata = {"from_journal": True}
    return output


def usage_of(usage: ModelUsage, provider: str = "", response: Mapping[str, Any] | None = None) -> TokenUsage:
    """Counts of one call, each token once; see :func:`benchwright.bridge.usage.normalised`."""
    return normalised(usage, provider, response)


def model_usage_of(usage: TokenUsage) -> ModelUsage:
    """Counts in Inspect's terms."""
    return ModelUsage(
        input_tokens=usage.input_tokens,
        input_tokens_cache_read=usage.cache_read_tokens or None,
        input_tokens_cache_write=usage.cache_write_tokens or None,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens or None,
        total_tokens=usage.total,
    )


def attempt_of(reply: Reply, *, problem_id: str, sample: int, lead: str, model: str) -> Attempt:
    """A reply as what is graded."""
    return Attempt(
        problem_id=problem_id,
        sample=sample,
        solution=None,
        raw_text=reply.text,
        prefill=lead,
        model=model,
        ending=reply.ending,
        ending_detail=reply.ending_detail,
    )


def clip(text: str) -> str:
    """Foreign words in one line, fit for a table and a terminal, without what looks like a key."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    line = _KEY.sub("(hidden)", " ".join(shown.split()))
    return line if len(line) <= _DETAIL_CHARACTERS else line[: _DETAIL_CHARACTERS - 1] + "…"
