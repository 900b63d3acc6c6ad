"""What an agent did, out of the messages of its conversation."""

import itertools
import json
from collections.abc import Iterator, Sequence

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool

from benchwright.core.agents import Action

_OUTPUT_CHARACTERS = 20_000
"""Of a tool's output that an integrity check may read; what it looks for stands at the ends."""


def actions_of(messages: Sequence[ChatMessage]) -> tuple[Action, ...]:
    """Every tool call with its output, in order; turns are counted from 1."""
    return tuple(_actions(messages))


def _actions(messages: Sequence[ChatMessage]) -> Iterator[Action]:
    places = [place for place, message in enumerate(messages) if isinstance(message, ChatMessageAssistant)]
    for turn, (place, following) in enumerate(itertools.pairwise([*places, len(messages)]), start=1):
        message = messages[place]
        assert isinstance(message, ChatMessageAssistant)
        # Only up to the next response: some servers number calls anew in each.
        outputs = {
            answer.tool_call_id: _said(answer)
            for answer in messages[place:following]
            if isinstance(answer, ChatMessageTool)
        }
        for call in message.tool_calls or ():
            output = _ends(outputs.get(call.id, ""))
            yield Action(turn=turn, tool=call.function, text=_text(call.arguments), output=output)


def _said(answer: ChatMessageTool) -> str:
    """What the model was told; of a call that failed Inspect keeps that apart."""
    return answer.text if answer.error is None else f"{answer.error.message}\n{answer.text}".strip()


def _text(arguments: dict[str, object]) -> str:
    """All that was given to a tool: the command itself where there is nothing else, otherwise JSON."""
    given = {name: value for name, value in arguments.items() if value is not None}
    if len(given) == 1 and isinstance(only := next(iter(given.values())), str):
        return only
    return json.dumps(given, default=str)


def _ends(text: str) -> str:
    if len(text) <= _OUTPUT_CHARACTERS:
        return text
    half = _OUTPUT_CHARACTERS // 2
    return f"{text[:half]}\n…\n{text[-half:]}"
