"""What an agent did, read out of conversations as our loop and other programs leave them."""

import json
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentText,
)
from inspect_ai.tool import ToolCall, ToolCallError

from benchwright.bridge.transcripts import actions_of
from benchwright.core.agents import Action, FindingKind
from benchwright.judging.integrity import find


def said(*calls: tuple[str, str, dict[str, Any]]) -> ChatMessageAssistant:
    """A response with calls: id, tool and arguments."""
    made = [ToolCall(id=name, function=tool, arguments=given) for name, tool, given in calls]
    return ChatMessageAssistant(content="", tool_calls=made or None)


def answer(name: str | None, text: str, error: str | None = None) -> ChatMessageTool:
    """A tool's answer to a call."""
    return ChatMessageTool(
        content=text, tool_call_id=name, error=None if error is None else ToolCallError("timeout", error)
    )


def bash(name: str, command: str) -> tuple[str, str, dict[str, Any]]:
    """A call of bash."""
    return name, "bash", {"command": command}


def test_calls_come_with_turns_and_outputs() -> None:
    """A response without a call is a turn too; several calls are one turn."""
    messages: list[ChatMessage] = [
        ChatMessageSystem(content="You are."),
        ChatMessageUser(content="Mend it."),
        said(bash("1", "ls"), bash("2", "pwd")),
        answer("2", "/testbed"),
        answer("1", "a.py"),
        said(),
        ChatMessageUser(content="Go on."),
        said(bash("3", "true")),
    ]
    assert actions_of(messages) == (
        Action(turn=1, tool="bash", text="ls", output="a.py"),
        Action(turn=1, tool="bash", text="pwd", output="/testbed"),
        Action(turn=3, tool="bash", text="true", output=""),
    )


def test_nothing_said_is_nothing_done() -> None:
    """Neither an empty conversation nor one that never was answered."""
    assert actions_of([]) == ()
    assert actions_of([ChatMessageUser(content="Mend it."), answer("1", "of nobody"), answer(None, "")]) == ()


def test_ids_that_come_again_are_those_of_the_last_response() -> None:
    """Some servers number the calls of every response anew."""
    messages: list[ChatMessage] = [
        said(bash("call_0", "a")),
        answer("call_0", "A"),
        said(bash("call_0", "b")),
        answer("call_0", "B"),
    ]
    assert [(action.text, action.output) for action in actions_of(messages)] == [("a", "A"), ("b", "B")]


def test_the_error_of_a_call_is_what_the_model_was_told() -> None:
    """Inspect keeps it apart from the output; a check for commands that ran out of time reads it."""
    late = "Command timed out before completing."
    actions = actions_of(
        [said(bash("1", "make")), answer("1", "", late), said(bash("2", "x")), answer("2", "out", late)]
    )
    assert [action.output for action in actions] == [late, f"{late}\nout"]
    found = find(actions, edited_tests=(), runner_files=(), written=None)
    assert [(finding.kind, finding.turn) for finding in found] == [
        (FindingKind.LONG_WAIT, 1),
        (FindingKind.LONG_WAIT, 2),
    ]


def test_what_was_given_is_the_command_or_json() -> None:
    """Everything that was given is in it; what was left out is not."""
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("1", "bash", {"command": "ls", "timeout_seconds": None}),
        ("2", "bash", {"command": "ls", "timeout_seconds": 5}),
        ("3", "text_editor", {"command": "create", "path": "/a", "file_text": "caf\u00e9\n"}),
        ("4", "submit", {}),
        ("5", "list", {"items": ["a"]}),
    ]
    texts = [action.text for action in actions_of([said(*calls)])]
    assert texts[0] == "ls"
    assert [json.loads(text) for text in texts[1:]] == [
        {"command": "ls", "timeout_seconds": 5},
        {"command": "create", "path": "/a", "file_text": "caf\u00e9\n"},
        {},
        {"items": ["a"]},
    ]


def test_content_in_parts_is_text() -> None:
    """Other programs answer in lists of parts."""
    parts = ChatMessageTool(content=[ContentText(text="one"), ContentText(text="two")], tool_call_id="1")
    (action,) = actions_of([said(bash("1", "ls")), parts])
    assert "one" in action.output and "two" in action.output


def test_of_a_long_output_both_ends_are_kept() -> None:
    """A check reads some kilobytes, not two hundred megabytes."""
    (action,) = actions_of([said(bash("1", "x")), answer("1", f"begin{'x' * 5_000_000}end")])
    assert action.output.startswith("begin") and action.output.endswith("end") and "\n…\n" in action.output
    assert len(action.output) < 21_000
