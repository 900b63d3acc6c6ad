"""OpenAI's own ``shell`` and ``apply_patch``: the Responses API's items, between its form and Inspect's.

============================  ======================================================  =================================
in a request                  in the place of                                         what is in it
============================  ======================================================  =================================
tool ``shell``                function ``bash``                                       the local environment: we execute
tool ``apply_patch``          function ``apply_patch``
item ``shell_call``           a ``function_call`` of ``bash``                         the item as it came
item ``apply_patch_call``     a ``function_call`` of ``apply_patch``                  the item as it came
``shell_call_output``         a ``function_call_output`` that answers one of these    text, exit code or time-out
``apply_patch_call_output``   a ``function_call_output`` that answers one of these    text, ``completed`` or ``failed``
============================  ======================================================  =================================

In an answer the two kinds of calls become function calls that our tools understand.  The item itself travels with the
function call, in a field that Inspect keeps with the others and gives back with the next request: what the model is
told that it did is then to the letter what it did, and nothing has to be remembered here.

Sources: https://developers.openai.com/api/docs/guides/tools-shell and ``…/tools-apply-patch``; the item types of the
``openai`` package.
"""

import json
import math
import re
from collections.abc import Collection, Mapping
from typing import Any

TYPES = {"bash": "shell", "apply_patch": "apply_patch"}
"""The type of OpenAI's tool, by our name."""
_DEFINITIONS: Mapping[str, Mapping[str, Any]] = {
    "bash": {"type": "shell", "environment": {"type": "local"}},
    "apply_patch": {"type": "apply_patch"},
}
CALLS = {"shell_call": "bash", "apply_patch_call": "apply_patch"}
"""Our tool, by the type of the item that calls OpenAI's."""
_CAME_AS = "benchwright_native"
"""Field of a function call that holds the item it was made from."""
_ONLY_IN_ANSWERS = ("created_by",)
"""Fields that the API sends and does not take back."""

_EXIT_CODE = re.compile(r"\[exit code (\d+)\]")
_TIMED_OUT = re.compile(r"\[the command was ended after [\d,.]+ s\]")

_DATE = re.compile(r"-\d{4}-\d{2}-\d{2}$")
MODELS = frozenset({
    "gpt-5.1", "gpt-5.1-codex", "gpt-5.1-codex-max", "gpt-5.1-codex-mini", "gpt-5.2", "gpt-5.2-codex", "gpt-5.3-codex",
    "gpt-5.4", "gpt-5.4-mini", "gpt-5.5", "gpt-5.6", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna", "gpt-6-astra",
    "gpt-6-sol", "gpt-6-luna", "gpt-6.1-sol", "gpt-6.1-terra", "gpt-6.2-astra", "gpt-6.2-sol",
})  # fmt: skip
"""Models that have both tools.

OpenAI's guides to the tools name GPT-5.1, GPT-5.2 and their Codex variants, GPT-5.4, GPT-6 Astra and GPT-6.2 Astra;
the others are general or Codex models published between these.  Left out are ``-chat``, ``-pro``, ``-nano`` and models
for one field, for which no guide says it.
"""


def has_tools(model: str) -> bool:
    """Whether a model, by OpenAI's name with or without a date, has these tools; False for names that are not known."""
    return _DATE.sub("", model) in MODELS


def native_request(request: Mapping[str, Any], tools: Collection[str], failed: Collection[str]) -> dict[str, Any]:
    """A request as the provider would have it.

    Args:
        request: Arguments of ``responses.create``; stays as it is.
        tools: Which of our tools take the native form.
        failed: Ids of calls whose tool reported an error.
    """
    native = dict(request)
    if isinstance(request.get("tools"), list):
        native["tools"] = [_definition(tool, tools) for tool in request["tools"]]
    choice = request.get("tool_choice")
    if isinstance(choice, Mapping) and choice.get("type") == "function" and choice.get("name") in tools:
        native["tool_choice"] = {"type": TYPES[choice["name"]]}
    if isinstance(request.get("input"), list):
        native["input"] = _items(request["input"], failed)
    return native


def _definition(tool: Mapping[str, Any], tools: Collection[str]) -> Mapping[str, Any]:
    is_ours = tool.get("type") == "function" and tool.get("name") in tools
    return dict(_DEFINITIONS[tool["name"]]) if is_ours else tool


def _items(items: list[Any], failed: Collection[str]) -> list[Any]:
    calls = {
        item["call_id"]: item[_CAME_AS]
        for item in items
        if item.get("type") == "function_call" and isinstance(item.get(_CAME_AS), Mapping)
    }
    return [_item(item, calls, failed) for item in items]


def _item(item: Any, calls: Mapping[str, Mapping[str, Any]], failed: Collection[str]) -> Any:
    call = calls.get(item.get("call_id", ""))
    if call is None:
        return item
    if item["type"] == "function_call":
        return dict(call)
    if item["type"] != "function_call_output":
        return item
    text = _text(item["output"])
    if call["type"] == "apply_patch_call":
        status = "failed" if item["call_id"] in failed else "completed"
        return {"type": "apply_patch_call_output", "call_id": item["call_id"], "status": status, "output": text}
    outcome = outcome_of(_own_words(item["output"]), failed=item["call_id"] in failed)
    answer: dict[str, Any] = {
        "type": "shell_call_output",
        "call_id": item["call_id"],
        "output": [{"stdout": text, "stderr": "", "outcome": outcome}],
    }
    limit = call["action"].get("max_output_length")
    return answer if limit is None else {**answer, "max_output_length": limit}


def outcome_of(text: str, *, failed: bool) -> dict[str, Any]:
    """How a command ended, by the last line of what our ``bash`` says of it; 0 where it says nothing.

    A call that failed as such, for example for broken arguments, has run nothing: that is code 1.
    """
    last = text.rstrip().rpartition("\n")[2]
    if _TIMED_OUT.fullmatch(last):
        return {"type": "timeout"}
    code = _EXIT_CODE.fullmatch(last)
    return {"type": "exit", "exit_code": int(code[1]) if code else int(failed)}


def _own_words(output: Any) -> str:
    """What the tool itself said: the first part, for what is left of the budget may follow."""
    return _text(output if isinstance(output, str) else output[:1])


def _text(output: Any) -> str:
    if isinstance(output, str):
        return output
    return "\n".join(part["text"] for part in output if part.get("type") == "input_text")


def function_call(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """The function call that a native item stands for; None for every other item of an answer."""
    name = CALLS.get(item.get("type", ""))
    if name is None:
        return None
    arguments = _shell_arguments(item["action"]) if name == "bash" else {"patch": envelope(item["operation"])}
    return {
        "type": "function_call",
        "id": item.get("id") or item["call_id"],  # without one, Inspect would not keep the item
        "call_id": item["call_id"],
        "name": name,
        "arguments": json.dumps(arguments),
        "status": "completed",
        _CAME_AS: {key: value for key, value in item.items() if key not in _ONLY_IN_ANSWERS},
    }


def _shell_arguments(action: Mapping[str, Any]) -> dict[str, Any]:
    """Several commands run one after the other, in one shell."""
    arguments: dict[str, Any] = {"command": "\n".join(action["commands"])}
    if action.get("timeout_ms"):
        arguments["timeout_seconds"] = math.ceil(action["timeout_ms"] / 1000)
    return arguments


def envelope(operation: Mapping[str, Any]) -> str:
    """An operation as a patch text of one section.

    A file that is created ends with a line break, as everywhere in this format.
    """
    heading = {"create_file": "Add", "update_file": "Update", "delete_file": "Delete"}[operation["type"]]
    diff = operation.get("diff") or ""
    body = diff if not diff or diff.endswith("\n") else diff + "\n"
    return f"*** Begin Patch\n*** {heading} File: {operation['path']}\n{body}*** End Patch"
