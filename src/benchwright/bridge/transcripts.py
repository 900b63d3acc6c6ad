"""What an agent did, out of the messages of its conversation."""

import json
from collections.abc import Iterator, Sequence

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool

from benchwright.core.agents import Action

_OUTPUT_CHARACTERS = 20_000
"""Of a tool's output that an integrity check may read; what it looks for stands at the ends."""


def actions_of(messages: Sequence[ChatMessage]) -> tuple[Action, ...]:
    """Every tool call with its output, in order; turns are counted from 1."""
    outputs = {
        message.tool_call_id: message.text
        for message in messages
        if isinstance(message, ChatMessageTool) and message.tool_call_id is not None
    }
    return tuple(_actions(messages, outputs))


def _actions(messages: Sequence[ChatMessage], outputs: dict[str, str]) -> Iterator[Action]:
    turn = 0
    for message in messages:
        if not isinstance(message, ChatMessageAssistant):
            continue
        turn += 1
        for call in message.tool_calls or ():
            yield Action(
                turn=turn,
                tool=call.function,
                text=_text(call.arguments),
                output=_ends(outputs.get(call.id, "")),
            )


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
