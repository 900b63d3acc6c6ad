"""Native tools end to end: Inspect and the provider's own client talk to a server that plays its answers."""

import asyncio
import importlib.util
import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.event import ModelEvent
from inspect_ai.log._transcript import Transcript, init_transcript, transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageUser,
    GenerateConfig,
    Model,
    execute_tools,
    get_model,
)
from inspect_ai.model._assistant_internal import init_sample_assistant_internal
from inspect_ai.tool import Tool, ToolError, tool
from native_server import Played, playing

from benchwright.bridge.native import attach_native
from benchwright.bridge.native.claude import RESTART_COMMAND
from benchwright.bridge.native.clients import install_openai
from benchwright.core.agents import NativeTools

TOOLS = ("bash", "text_editor", "apply_patch")


class Told:
    """What the tools of one conversation were told."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def tools(self) -> list[Tool]:
        """A shell, an editor and a patch tool that do nothing; the last refuses whatever deletes."""
        calls = self.calls

        @tool(name="bash")
        def bash() -> Tool:
            async def execute(command: str, timeout_seconds: int | None = None) -> str:
                """Run a command.

                Args:
                    command: What to run.
                    timeout_seconds: How long it may take.
                """
                calls.append(("bash", {"command": command, "timeout_seconds": timeout_seconds}))
                return "two lines\n[exit code 2]"

            return execute

        @tool(name="text_editor")
        def editor() -> Tool:
            async def execute(command: str, path: str, insert_text: str | None = None) -> str:
                """Edit a file.

                Args:
                    command: What to do.
                    path: Where.
                    insert_text: What to put there.
                """
                calls.append(("text_editor", {"command": command, "path": path, "insert_text": insert_text}))
                return "edited"

            return execute

        @tool(name="apply_patch")
        def patch() -> Tool:
            async def execute(patch: str) -> str:
                """Apply a patch.

                Args:
                    patch: Its text.
                """
                calls.append(("apply_patch", {"patch": patch}))
                if "Delete File" in patch:
                    raise ToolError("there is no such file")
                return "done"

            return execute

        return [bash(), editor(), patch()]


def converse(model: Model, tools: Sequence[Tool]) -> list[ModelEvent]:
    """Let a model use tools until it calls none; gives the events that a log would hold."""

    async def turns() -> list[ModelEvent]:
        init_transcript(Transcript())
        init_sample_assistant_internal()
        messages: list[ChatMessage] = [ChatMessageUser(content="Repair it.")]
        async with model:
            while not isinstance(messages[-1], ChatMessageAssistant) or messages[-1].tool_calls:
                messages.append((await model.generate(messages, tools=list(tools))).message)
                messages.extend((await execute_tools(messages, list(tools))).messages)
        return [event for event in transcript().events if isinstance(event, ModelEvent)]

    return asyncio.run(turns())


def opened(name: str, server: Played, **options: Any) -> Model:
    """A model whose provider is the server; skips the test where its client is not installed."""
    package = name.partition("/")[0]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"the client package {package} is not installed")
    return get_model(name, base_url=server.url, api_key="none", memoize=False, **options)


# Anthropic


def message(*content: dict[str, Any]) -> dict[str, Any]:
    """An answer of the Messages API."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-opus-5",
        "content": list(content),
        "stop_reason": "tool_use" if content[-1]["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def streamed(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The same answer as the events of a stream."""
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**document, "content": [], "stop_reason": None}}
    ]
    for place, block in enumerate(document["content"]):
        if block["type"] == "tool_use":
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        events += [
            {"type": "content_block_start", "index": place, "content_block": start},
            {"type": "content_block_delta", "index": place, "delta": delta},
            {"type": "content_block_stop", "index": place},
        ]
    end = {"stop_reason": document["stop_reason"], "stop_sequence": None}
    return [
        *events,
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


def use(number: int, name: str, **given: Any) -> dict[str, Any]:
    """A call that the model makes."""
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}


CLAUDE_CALLS = (
    {"type": "text", "text": "I look."},
    use(1, "bash", command="ls"),
    use(2, "bash", restart=True),
    use(3, "str_replace_based_edit_tool", command="insert", path="/testbed/a", insert_text="x"),
    use(4, "apply_patch", patch="*** Begin Patch\n*** End Patch"),
)
CLAUDE_ANSWERS = [message(*CLAUDE_CALLS), message({"type": "text", "text": "Done."})]


@pytest.mark.parametrize("streaming", [False, True])
def test_anthropic(streaming: bool) -> None:
    """Bash and the editor go out in Anthropic's form, our tools get what they know, and the history is the model's."""
    told = Told()
    answers: list[Any] = [streamed(answer) if streaming else answer for answer in CLAUDE_ANSWERS]
    with playing(answers) as server:
        model = opened("anthropic/claude-opus-5", server, config=GenerateConfig(max_tokens=1000), streaming=streaming)
        forms = attach_native(model, TOOLS, NativeTools.AUTO)
        events = converse(model, told.tools())
    assert forms == {"bash": "bash_20250124", "text_editor": "text_editor_20250728", "apply_patch": "function"}
    assert told.calls == [
        ("bash", {"command": "ls", "timeout_seconds": None}),
        ("bash", {"command": RESTART_COMMAND, "timeout_seconds": None}),
        ("text_editor", {"command": "insert", "path": "/testbed/a", "insert_text": "x"}),
        ("apply_patch", {"patch": "*** Begin Patch\n*** End Patch"}),
    ]
    first, second = server.requests
    assert server.paths == ["/v1/messages"] * 2
    assert first["tools"] == second["tools"]
    assert first["tools"][:2] == [
        {"type": "bash_20250124", "name": "bash"},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
    ]
    assert first["tools"][2]["input_schema"]["required"] == ["patch"]
    _, given, results = second["messages"]
    assert (given["role"], given["content"][1:]) == ("assistant", list(CLAUDE_CALLS[1:]))
    assert [block["tool_use_id"] for block in results["content"]] == ["toolu_1", "toolu_2", "toolu_3", "toolu_4"]
    assert events[0].call is not None
    assert events[0].call.request["tools"] == first["tools"]


def test_anthropic_without_native_tools() -> None:
    """With native tools off, all three go out as functions."""
    with playing(CLAUDE_ANSWERS[1:]) as server:
        model = opened("anthropic/claude-opus-5", server, config=GenerateConfig(max_tokens=1000))
        attach_native(model, TOOLS, NativeTools.OFF)
        converse(model, Told().tools())
    assert [offered["name"] for offered in server.requests[0]["tools"]] == list(TOOLS)
    assert all("input_schema" in offered for offered in server.requests[0]["tools"])


# OpenAI


def response(*output: dict[str, Any]) -> dict[str, Any]:
    """An answer of the Responses API."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": "gpt-5.1",
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 15,
        },
    }


def stream_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The same answer as the events of a stream, as far as Inspect reads them."""
    started = {**document, "status": "in_progress", "output": []}
    items = [
        {"type": "response.output_item.done", "output_index": place, "item": item, "sequence_number": place + 1}
        for place, item in enumerate(document["output"])
    ]
    return [
        {"type": "response.created", "response": started, "sequence_number": 0},
        *items,
        {"type": "response.completed", "response": document, "sequence_number": len(items) + 1},
    ]


SHELL = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "call_1",
    "status": "completed",
    "action": {"commands": ["cd src", "make test"], "timeout_ms": 60_000, "max_output_length": 4096},
    "environment": {"type": "local"},
}
UPDATE = {
    "type": "apply_patch_call",
    "id": "apc_1",
    "call_id": "call_2",
    "status": "completed",
    "operation": {"type": "update_file", "path": "a.py", "diff": "@@\n-x\n+y\n"},
}
DELETE = {
    "type": "apply_patch_call",
    "id": "apc_2",
    "call_id": "call_3",
    "status": "completed",
    "operation": {"type": "delete_file", "path": "b.py"},
}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"}
EDIT = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_4",
    "name": "text_editor",
    "arguments": '{"command": "view", "path": "/testbed"}',
    "status": "completed",
}
DONE = {
    "type": "message",
    "id": "m_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "Done.", "annotations": [], "logprobs": []}],
}
OPENAI_ANSWERS = [response(THOUGHT, {**SHELL, "created_by": "ent_1"}, UPDATE, DELETE, EDIT), response(DONE)]


@pytest.mark.parametrize("streaming", [False, True])
def test_openai(streaming: bool) -> None:
    """Shell and patches go out in OpenAI's form, our tools get what they know, and the history is the model's."""
    told = Told()
    answers: list[Any] = [stream_of(answer) if streaming else answer for answer in OPENAI_ANSWERS]
    with playing(answers) as server:
        model = opened("openai/gpt-5.1", server, config=GenerateConfig(reasoning_summary="none"), streaming=streaming)
        forms = attach_native(model, TOOLS, NativeTools.ON)
        events = converse(model, told.tools())
    assert forms == {"bash": "openai:shell", "text_editor": "function", "apply_patch": "openai:apply_patch"}
    assert told.calls == [
        ("bash", {"command": "cd src\nmake test", "timeout_seconds": 60}),
        ("apply_patch", {"patch": "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"}),
        ("apply_patch", {"patch": "*** Begin Patch\n*** Delete File: b.py\n*** End Patch"}),
        ("text_editor", {"command": "view", "path": "/testbed", "insert_text": None}),
    ]
    first, second = server.requests
    assert server.paths == ["/responses"] * 2
    assert [offered["type"] for offered in first["tools"]] == ["shell", "function", "apply_patch"]
    assert first["tools"][0] == {"type": "shell", "environment": {"type": "local"}}
    assert (first["tools"], first["tools"][1]["name"]) == (second["tools"], "text_editor")
    assert events[0].call is not None
    assert events[0].call.request["tools"] == first["tools"]
    given = second["input"][1:]
    assert given[0]["encrypted_content"] == "abc"
    assert given[1:5] == [SHELL, UPDATE, DELETE, EDIT]
    assert given[5:8] == [
        {
            "type": "shell_call_output",
            "call_id": "call_1",
            "output": [
                {
                    "stdout": "two lines\n[exit code 2]",
                    "stderr": "",
                    "outcome": {"type": "exit", "exit_code": 2},
                }
            ],
            "max_output_length": 4096,
        },
        {"type": "apply_patch_call_output", "call_id": "call_2", "status": "completed", "output": "done"},
        {
            "type": "apply_patch_call_output",
            "call_id": "call_3",
            "status": "failed",
            "output": "there is no such file",
        },
    ]
    assert (given[8]["type"], given[8]["call_id"]) == ("function_call_output", "call_4")


def test_openai_without_native_tools() -> None:
    """With native tools off, all three go out as functions."""
    with playing(OPENAI_ANSWERS[1:]) as server:
        model = opened("openai/gpt-5.1", server, config=GenerateConfig(reasoning_summary="none"))
        attach_native(model, TOOLS, NativeTools.OFF)
        converse(model, Told().tools())
    offered = server.requests[0]["tools"]
    assert [(one["type"], one["name"]) for one in offered] == [("function", name) for name in TOOLS]


def test_a_client_that_inspect_replaces_is_translated_too() -> None:
    """Inspect makes a new client when a key expires; the calls after that are translated as those before."""
    told = Told()
    with playing(OPENAI_ANSWERS) as server:
        model = opened("openai/gpt-5.1", server, config=GenerateConfig(reasoning_summary="none"))
        attach_native(model, TOOLS, NativeTools.AUTO)
        model.api.initialize()
        converse(model, told.tools())
    assert [name for name, _ in told.calls] == ["bash", "apply_patch", "apply_patch", "text_editor"]


def test_a_response_that_is_fetched_later() -> None:
    """A request in the background is answered by a second one, whose calls are understood as well."""
    types = pytest.importorskip("openai.types.responses", reason="the client package openai is not installed")

    async def answer(*asked: Any, **request: Any) -> Any:
        return types.Response.model_validate(OPENAI_ANSWERS[0])

    client = SimpleNamespace(responses=SimpleNamespace(create=answer, retrieve=answer))
    install_openai(client, {"bash", "apply_patch"})
    found = asyncio.run(client.responses.retrieve("resp_1"))
    assert [item.type for item in found.output] == ["reasoning", *["function_call"] * 4]
    assert found.output[1].name == "bash"
