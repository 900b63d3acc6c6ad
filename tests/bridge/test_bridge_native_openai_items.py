"""Items of OpenAI's Responses API, as function calls and in OpenAI's own form, there and back."""

import copy
import json
from typing import Any, cast

import pytest

from benchwright.answers.v4a import apply_v4a, parse_v4a
from benchwright.bridge.native.openai_items import envelope, function_call, has_tools, native_request, outcome_of
from benchwright.bridge.scaffolds.bash_tool import Shell
from benchwright.bridge.scaffolds.foreign_shell import Done

BOTH = {"bash", "apply_patch"}
SHELL_CALL = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "call_1",
    "status": "completed",
    "action": {"commands": ["cd src", "make test"], "timeout_ms": 90_500, "max_output_length": 4096},
    "environment": {"type": "local"},
}
PATCH_CALL = {
    "type": "apply_patch_call",
    "id": "apc_1",
    "call_id": "call_2",
    "status": "completed",
    "operation": {"type": "update_file", "path": "a.py", "diff": "@@ def f():\n-    return 1\n+    return 2\n"},
}


def function_tool(name: str) -> dict[str, Any]:
    """A tool as Inspect describes it."""
    return {"type": "function", "name": name, "description": "…", "parameters": {}, "strict": False}


def answered(item: dict[str, Any], text: Any, failed: bool = False) -> list[Any]:
    """What a second request holds of a native call and the text that our tool gave."""
    call = function_call(item)
    assert call is not None
    answer = {"type": "function_call_output", "call_id": item["call_id"], "output": text}
    asked = {"type": "message", "role": "user", "content": []}
    given = {"model": "gpt-5.1", "input": [asked, call, answer]}
    before = copy.deepcopy(given)
    native = native_request(given, BOTH, {item["call_id"]} if failed else set())
    assert given == before
    assert native["input"][0] == asked
    items = native["input"][1:]
    assert isinstance(items, list)
    return items


def test_tools_in_the_native_form() -> None:
    """Each of the two is its type; the shell says that we execute, or the provider would do it."""
    tools = [function_tool("bash"), function_tool("text_editor"), function_tool("apply_patch")]
    native = native_request({"tools": tools, "input": "hi"}, BOTH, ())
    assert native["tools"] == [
        {"type": "shell", "environment": {"type": "local"}},
        tools[1],
        {"type": "apply_patch"},
    ]
    assert native["input"] == "hi"
    assert native_request({"tools": tools, "input": []}, {"bash"}, ())["tools"][2] == tools[2]
    untold = object()  # the client's mark for an argument that is left out
    assert native_request({"tools": untold}, BOTH, ()) == {"tools": untold}


@pytest.mark.parametrize(
    ("choice", "native"),
    [
        ({"type": "function", "name": "bash"}, {"type": "shell"}),
        ({"type": "function", "name": "apply_patch"}, {"type": "apply_patch"}),
        ({"type": "function", "name": "submit"}, {"type": "function", "name": "submit"}),
        ("required", "required"),
    ],
)
def test_a_forced_choice(choice: Any, native: Any) -> None:
    """A tool that the model has to use is named as it was offered."""
    assert native_request({"tool_choice": choice}, BOTH, ())["tool_choice"] == native


def test_a_shell_call_is_a_call_of_bash() -> None:
    """Its commands run one after the other, and a limit in milliseconds is one in seconds, rounded up."""
    call = function_call(SHELL_CALL)
    assert call is not None
    assert (call["type"], call["id"], call["call_id"], call["name"]) == ("function_call", "sh_1", "call_1", "bash")
    assert json.loads(call["arguments"]) == {"command": "cd src\nmake test", "timeout_seconds": 91}
    bare = {"type": "shell_call", "call_id": "call_9", "action": {"commands": ["ls"]}}
    call = function_call(bare)
    assert call is not None
    assert json.loads(call["arguments"]) == {"command": "ls"}
    assert call["id"] == "call_9"  # Inspect keeps calls with an id only


def test_what_is_left_of_the_budget_does_not_hide_the_exit_code() -> None:
    """A line that follows the tool's own words is shown to the model, and is not taken for them."""
    parts = [{"type": "input_text", "text": text} for text in ("no\n[exit code 3]", "Budget left: 5 turns.")]
    _, answer = answered(SHELL_CALL, parts)
    assert answer["output"][0]["outcome"] == {"type": "exit", "exit_code": 3}
    assert "Budget left" in answer["output"][0]["stdout"]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("2 passed\n", {"type": "exit", "exit_code": 0}),
        ("1 failed\n[exit code 1]", {"type": "exit", "exit_code": 1}),
        ("half\n[the command was ended after 91 s]", {"type": "timeout"}),
    ],
)
def test_the_output_of_a_shell_call(text: str, outcome: dict[str, Any]) -> None:
    """The call goes back to the letter, and its answer says how the command ended and how long it may be."""
    assert answered(SHELL_CALL, text) == [
        SHELL_CALL,
        {
            "type": "shell_call_output",
            "call_id": "call_1",
            "output": [{"stdout": text, "stderr": "", "outcome": outcome}],
            "max_output_length": 4096,
        },
    ]


def test_a_shell_call_that_could_not_run() -> None:
    """An error of our tool is no success, and without a limit of its output none is sent back."""
    bare = {"type": "shell_call", "id": "sh_2", "call_id": "call_9", "action": {"commands": ["ls"]}}
    _, answer = answered(bare, "the sandbox is gone", failed=True)
    assert answer["output"][0]["outcome"] == {"type": "exit", "exit_code": 1}
    assert "max_output_length" not in answer


@pytest.mark.parametrize(("failed", "status"), [(False, "completed"), (True, "failed")])
def test_the_output_of_a_patch(failed: bool, status: str) -> None:
    """A patch that our tool refused has failed, and the model reads why; text in parts is put together."""
    parts = [{"type": "input_text", "text": "M a.py"}, {"type": "input_text", "text": "1 hunk"}]
    assert answered(PATCH_CALL, parts, failed) == [
        PATCH_CALL,
        {"type": "apply_patch_call_output", "call_id": "call_2", "status": status, "output": "M a.py\n1 hunk"},
    ]


def test_what_only_answers_have_is_not_sent_back() -> None:
    """The API refuses fields that its input does not know."""
    assert answered({**PATCH_CALL, "created_by": "ent_1"}, "")[0] == PATCH_CALL


def test_other_calls_and_items_stay() -> None:
    """Calls of functions, whether ours or another's, and everything else go through as they are."""
    items = [
        {"type": "function_call", "call_id": "c", "name": "bash", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
    ]
    assert native_request({"input": items}, BOTH, ())["input"] == items
    assert function_call({"type": "function_call", "name": "bash"}) is None
    assert function_call({"type": "message"}) is None


@pytest.mark.parametrize(
    ("operation", "text"),
    [
        (
            {"type": "create_file", "path": "docs/new.md", "diff": "+# New\n+\n+text\n"},
            "*** Begin Patch\n*** Add File: docs/new.md\n+# New\n+\n+text\n*** End Patch",
        ),
        (
            {"type": "create_file", "path": "empty", "diff": ""},
            "*** Begin Patch\n*** Add File: empty\n*** End Patch",
        ),
        (
            {"type": "update_file", "path": "a.py", "diff": "@@ def f():\n-    return 1\n+    return 2"},
            "*** Begin Patch\n*** Update File: a.py\n@@ def f():\n-    return 1\n+    return 2\n*** End Patch",
        ),
        (
            {"type": "delete_file", "path": "old name.py"},
            "*** Begin Patch\n*** Delete File: old name.py\n*** End Patch",
        ),
    ],
)
def test_an_operation_is_a_patch_of_one_section(operation: dict[str, str], text: str) -> None:
    """Our tool reads the same text from a model that writes the envelope itself."""
    assert envelope(operation) == text
    call = function_call({**PATCH_CALL, "operation": operation})
    assert call is not None
    assert (call["name"], json.loads(call["arguments"])) == ("apply_patch", {"patch": text})


@pytest.mark.parametrize(
    ("operation", "content"),
    [
        ({"type": "create_file", "path": "new.py", "diff": "+x = 1\n+\n"}, b"x = 1\n\n"),
        ({"type": "create_file", "path": "new.py", "diff": ""}, b""),
        (
            {"type": "update_file", "path": "a.py", "diff": "@@ def f():\n-    return 1\n+    return 2"},
            b"def f():\n    return 2\n",
        ),
        (
            {"type": "update_file", "path": "a.py", "diff": " def f():\n-    return 1\n+    pass\n"},
            b"def f():\n    pass\n",
        ),
        ({"type": "delete_file", "path": "a.py"}, None),
    ],
)
def test_our_patch_tool_reads_an_operation(operation: dict[str, str], content: bytes | None) -> None:
    """The text that is made of an operation does to the file what the operation says."""
    files = {"a.py": b"def f():\n    return 1\n"}
    (change,) = apply_v4a(parse_v4a(envelope(operation), root="/testbed"), files.get)
    assert (change.path, change.content) == (operation["path"], content)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", 0),
        ("[exit code 3]", 3),
        ("[exit code 137]\n", 137),
        ("[exit code 3]\nand more", 0),
        ("say [exit code 3]", 0),
    ],
)
def test_an_exit_code_is_read_from_the_last_line(text: str, code: int) -> None:
    """Only a line of its own at the very end is our tool's."""
    assert outcome_of(text, failed=False) == {"type": "exit", "exit_code": code}


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (0, {"type": "exit", "exit_code": 0}),
        (3, {"type": "exit", "exit_code": 3}),
        (-9, {"type": "exit", "exit_code": 137}),
        (None, {"type": "timeout"}),
    ],
)
def test_what_our_bash_says_is_understood(status: int | None, outcome: dict[str, Any]) -> None:
    """The words that our tool ends with are those that are read here."""
    said = Shell(cast(Any, None), "/", output_bytes=1000)._shown(Done(status, b"half a line", 11), 1800)
    assert outcome_of(said, failed=False) == outcome


@pytest.mark.parametrize(
    ("model", "has"),
    [
        ("gpt-5.1", True),
        ("gpt-5.1-2025-11-13", True),
        ("gpt-5.1-codex", True),
        ("gpt-5.4-mini-2026-03-17", True),
        ("gpt-6.2-astra", True),
        ("gpt-5", False),
        ("gpt-5.1-chat-latest", False),
        ("gpt-5.2-pro-2025-12-11", False),
        ("o4-mini", False),
        ("azure/gpt-5.1", False),
    ],
)
def test_which_models_have_the_tools(model: str, has: bool) -> None:
    """Models that are known to, with or without the date of a version."""
    assert has_tools(model) is has
