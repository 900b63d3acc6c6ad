"""Requests and answers of Anthropic's Messages API, with tools as functions and in Anthropic's own form."""

import copy
from typing import Any

import pytest

from benchwright.bridge.native.claude import RESTART_COMMAND, function_input, has_tools, native_request

BASH = {"name": "bash", "description": "Run a command.", "input_schema": {"type": "object", "properties": {}}}
EDITOR = {
    "name": "text_editor",
    "description": "Edit a file.",
    "input_schema": {"type": "object", "properties": {}},
    "cache_control": {"type": "ephemeral"},
}
SUBMIT = {"name": "submit", "description": "Hand in.", "input_schema": {"type": "object", "properties": {}}}


def request(**changes: Any) -> dict[str, Any]:
    """A request as Inspect makes it, in its second turn."""
    return {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "tools": [BASH, SUBMIT, EDITOR],
        "messages": [
            {"role": "user", "content": "Repair it."},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Again."},
                    {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": RESTART_COMMAND}},
                    {"type": "tool_use", "id": "t2", "name": "bash", "input": {"command": "ls"}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]},
        ],
        **changes,
    }


def test_a_request_in_the_native_form() -> None:
    """The definitions lose schema and text but keep their place in the cache, and a restart is told as it was given."""
    given = request()
    before = copy.deepcopy(given)
    native = native_request(given, {"bash", "text_editor"})
    assert native["tools"] == [
        {"type": "bash_20250124", "name": "bash"},
        SUBMIT,
        {
            "type": "text_editor_20250728",
            "name": "str_replace_based_edit_tool",
            "cache_control": {"type": "ephemeral"},
        },
    ]
    assert native["messages"][1]["content"] == [
        {"type": "text", "text": "Again."},
        {"type": "tool_use", "id": "t1", "name": "bash", "input": {"restart": True}},
        {"type": "tool_use", "id": "t2", "name": "bash", "input": {"command": "ls"}},
    ]
    assert [native["messages"][n] for n in (0, 2)] == [before["messages"][n] for n in (0, 2)]
    assert {key: native[key] for key in ("model", "max_tokens")} == {"model": "claude-sonnet-4-5", "max_tokens": 100}
    assert given == before


def test_only_the_tools_that_were_chosen() -> None:
    """A tool that stays a function is sent as it is, and so are calls of it."""
    native = native_request(request(), {"text_editor"})
    assert native["tools"][:2] == [BASH, SUBMIT]
    assert native["messages"] == request()["messages"]


def test_a_definition_that_is_native_already_stays() -> None:
    """Should Inspect render the editor itself, it is not touched."""
    editor = {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool", "max_characters": 9}
    assert native_request(request(tools=[editor]), {"bash", "text_editor"})["tools"] == [editor]


def test_a_request_without_tools() -> None:
    """What is not there is not made."""
    bare = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    assert native_request(bare, {"bash"}) == bare


@pytest.mark.parametrize(
    ("choice", "native"),
    [
        ({"type": "tool", "name": "text_editor"}, {"type": "tool", "name": "str_replace_based_edit_tool"}),
        ({"type": "tool", "name": "submit"}, {"type": "tool", "name": "submit"}),
        ({"type": "auto"}, {"type": "auto"}),
    ],
)
def test_a_forced_choice(choice: dict[str, str], native: dict[str, str]) -> None:
    """A tool that the model has to use is named as it was offered."""
    assert native_request(request(tool_choice=choice), {"bash", "text_editor"})["tool_choice"] == native


@pytest.mark.parametrize(
    ("given", "arguments"),
    [
        ({"command": "ls"}, {"command": "ls"}),
        ({"restart": True}, {"command": RESTART_COMMAND}),
        ({"command": "ls", "restart": True}, {"command": RESTART_COMMAND}),
        ({"command": "ls", "restart": False}, {"command": "ls"}),
        ({}, {}),
        ("ls", "ls"),
    ],
)
def test_what_the_model_gives_to_bash(given: Any, arguments: Any) -> None:
    """A restart is a command for our tool; what fits no schema is left for Inspect to refuse."""
    assert function_input(given) == arguments


@pytest.mark.parametrize(
    ("model", "has"),
    [
        ("claude-sonnet-4-5", True),
        ("claude-sonnet-4-20250514", True),
        ("claude-opus-4-1-20250805", True),
        ("claude-haiku-4-5-20251001", True),
        ("claude-opus-5", True),
        ("claude-sonnet-5-5", True),
        ("claude-3-7-sonnet-latest", False),
        ("claude-3-5-haiku-20241022", False),
        ("claude-2.1", False),
        ("claude-mythos-preview", False),
        ("bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0", False),
        ("gpt-5.1", False),
    ],
)
def test_which_models_have_the_tools(model: str, has: bool) -> None:
    """Models from the fourth generation on, by Anthropic's own names."""
    assert has_tools(model) is has
