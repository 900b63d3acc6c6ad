"""Puts a translator between Inspect and the client of a provider, where a request is complete and no answer is read.

Inspect makes its requests from its own messages and cannot be told of a tool's native form, so the client's methods
are replaced on the instance that a model holds: ``messages.create`` and ``messages.stream`` of Anthropic's client,
``responses.create`` and ``responses.retrieve`` of OpenAI's.  Other ways are not translated: batches, the counting of
tokens and the provider's own compaction.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

from inspect_ai.model import ChatMessage, ChatMessageTool, GenerateConfig, Model

from benchwright.bridge.native import claude, openai_items


@dataclass
class _Running:
    """One request, between Inspect and the client."""

    failed: frozenset[str] = frozenset()
    """Ids of the tool calls whose tool reported an error; only Inspect's messages tell."""
    tools: Any = None
    """As they are sent."""


_running: ContextVar[_Running] = ContextVar("benchwright_running_request")


def translate(model: Model, install: Callable[[Any, Collection[str]], None], native: Collection[str]) -> None:
    """Translate all calls of a model; once per model.

    Args:
        model: The instance that will be asked.
        install: Replaces the methods of a client.
        native: Which of our tools take the native form.
    """
    send = model.api.generate
    done: WeakSet[Any] = WeakSet()

    async def generate(input: list[ChatMessage], tools: Any, tool_choice: Any, config: GenerateConfig) -> Any:
        client = model.api.client  # type: ignore[attr-defined]  # looked up anew: Inspect replaces it with its key
        if client not in done:
            install(client, native)
            done.add(client)
        running = _Running(failed=frozenset(_failed_calls(input)))
        token = _running.set(running)
        try:
            result = await send(input=input, tools=tools, tool_choice=tool_choice, config=config)
        finally:
            _running.reset(token)
        if isinstance(result, tuple) and isinstance(running.tools, list):
            result[1].request["tools"] = running.tools  # Inspect took its own tools down for the log
        return result

    model.api.generate = generate  # type: ignore[method-assign]


def _failed_calls(messages: Sequence[ChatMessage]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, ChatMessageTool) and message.error is not None and message.tool_call_id:
            yield message.tool_call_id


def _noted(request: dict[str, Any]) -> dict[str, Any]:
    """A translated request, whose tools are remembered."""
    running = _running.get(None)
    if running is not None:
        running.tools = request.get("tools")
    return request


def install_claude(client: Any, native: Collection[str]) -> None:
    """Make a client of Anthropic's send and understand native tools."""
    create, stream = client.messages.create, client.messages.stream

    async def translated_create(**request: Any) -> Any:
        return _understood_message(await create(**_noted(claude.native_request(request, native))))

    def translated_stream(**request: Any) -> _MessageStream:
        return _MessageStream(stream(**_noted(claude.native_request(request, native))))

    client.messages.create, client.messages.stream = translated_create, translated_stream


def _understood_message(message: Any) -> Any:
    for block in message.content:
        if block.type == "tool_use" and block.name == "bash":
            block.input = claude.function_input(block.input)
    return message


class _MessageStream:
    """A stream of Anthropic's client, and the manager that opens it, whose message is understood by our tools."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self._stream: Any = None

    async def __aenter__(self) -> "_MessageStream":
        self._stream = await self._manager.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._manager.__aexit__(*error)

    def __aiter__(self) -> AsyncIterator[Any]:
        events: AsyncIterator[Any] = self._stream.__aiter__()
        return events

    @property
    def current_message_snapshot(self) -> Any:
        """The message as far as it has come; Inspect reads it after the last event."""
        return _understood_message(self._stream.current_message_snapshot)


def install_openai(client: Any, native: Collection[str]) -> None:
    """Make a client of OpenAI's send and understand native tools in the Responses API."""
    create, retrieve = client.responses.create, client.responses.retrieve

    async def translated_create(**request: Any) -> Any:
        failed = _running.get(_Running()).failed
        answer = await create(**_noted(openai_items.native_request(request, native, failed)))
        return _ResponseStream(answer) if request.get("stream") else _understood_response(answer)

    async def translated_retrieve(*arguments: Any, **options: Any) -> Any:
        return _understood_response(await retrieve(*arguments, **options))

    client.responses.create, client.responses.retrieve = translated_create, translated_retrieve


def _understood_response(response: Any) -> Any:
    for place, item in enumerate(response.output or []):
        if item.type in openai_items.CALLS:
            call = openai_items.function_call(item.model_dump(mode="json", exclude_none=True, warnings=False))
            # The client's own way to make an item of plain data; Inspect looks at its class.
            response.output[place] = type(response).construct(output=[call]).output[0]
    return response


class _ResponseStream:
    """A stream of OpenAI's client, whose last response is understood by our tools."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aenter__(self) -> "_ResponseStream":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for event in self._stream:
            if getattr(event, "response", None) is not None:
                _understood_response(event.response)
            yield event
