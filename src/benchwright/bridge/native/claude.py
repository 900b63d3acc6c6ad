"""Anthropic's own ``bash`` and text editor: the Messages API's requests and answers, between its form and Inspect's.

Both are client tools without a schema: only the definition differs from a function's, and what the model may give.

==============  =============================================================================  ====================
our tool        what is sent in its place                                                      what the model gives
==============  =============================================================================  ====================
``bash``        ``{"type": "bash_20250124", "name": "bash"}``                                  ``command``, or
                                                                                               ``restart``
``text_editor`` ``{"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"}``    as ours, without
                                                                                               ``undo_edit``
==============  =============================================================================  ====================

Inspect knows the text editor's foreign name: it gives the call to ``text_editor``, and sends it back under that name.
It would also send the definition, but as of 0.3.285 it does not recognise its own tool, which has a new parameter.

Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/bash-tool and ``…/text-editor-tool``.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

TYPES = {"bash": "bash_20250124", "text_editor": "text_editor_20250728"}
"""The type of Anthropic's tool, by our name."""
_NAMES = {"bash": "bash", "text_editor": "str_replace_based_edit_tool"}

RESTART_COMMAND = (
    "echo 'Every call is a shell of its own, which goes on where the last one ended; there is none to restart. "
    "Background processes go on.'"
)
"""What a restart becomes: no call can leave a shell behind that hangs."""

_WITH_TOOLS = re.compile(r"claude-[a-z]+-(\d{1,2})(?:-\d{1,2})?(?:-\d{8})?")
_FIRST_GENERATION = 4
"""Both versions of the tools are those of the Claude 4 models; the documentation promises them for all later ones."""


def has_tools(model: str) -> bool:
    """Whether a model, by the name that Anthropic gives it, has these tools; False for names that are not known."""
    found = _WITH_TOOLS.fullmatch(model)
    return found is not None and int(found[1]) >= _FIRST_GENERATION


def native_request(request: Mapping[str, Any], tools: Collection[str]) -> dict[str, Any]:
    """A request as the provider would have it.

    Args:
        request: Arguments of ``messages.create``; stays as it is.
        tools: Which of our tools take the native form.
    """
    native = dict(request)
    if isinstance(request.get("tools"), list):
        native["tools"] = [_definition(tool, tools) for tool in request["tools"]]
    choice = request.get("tool_choice")
    if isinstance(choice, Mapping) and choice.get("name") in tools:
        native["tool_choice"] = {**choice, "name": _NAMES[choice["name"]]}
    if "bash" in tools:
        native["messages"] = [_message(message) for message in request["messages"]]
    return native


def _definition(tool: Mapping[str, Any], tools: Collection[str]) -> Mapping[str, Any]:
    name = str(tool.get("name"))
    if name not in tools or "input_schema" not in tool:
        return tool
    # Nothing else of a function's definition is allowed here.
    kept = {key: tool[key] for key in ("cache_control",) if key in tool}
    return {"type": TYPES[name], "name": _NAMES[name], **kept}


def _message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    content = message["content"]
    if message["role"] != "assistant" or not isinstance(content, list):
        return message
    return {**message, "content": [_given(block) for block in content]}


def _given(block: Any) -> Any:
    """A block of the model's own words, with a restart as the model gave it."""
    if not isinstance(block, Mapping) or block.get("type") != "tool_use" or block.get("name") != "bash":
        return block
    restart = block.get("input") == {"command": RESTART_COMMAND}
    return {**block, "input": {"restart": True}} if restart else block


def function_input(given: Any) -> Any:
    """The arguments of our ``bash``, from what the model gave to Anthropic's; what it did wrong stays wrong."""
    if not isinstance(given, Mapping) or "restart" not in given:
        return given
    if given["restart"]:
        return {"command": RESTART_COMMAND}
    return {key: value for key, value in given.items() if key != "restart"}
