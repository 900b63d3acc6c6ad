"""Which tools a model gets in its provider's own form, and the translator that makes it so."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from inspect_ai.model import Model

from benchwright.bridge.native import claude, openai_items
from benchwright.bridge.native.clients import install_claude, install_openai, translate
from benchwright.bridge.scaffolds.base import FUNCTION
from benchwright.core.agents import NativeTools
from benchwright.core.errors import UsageError


class _Native(NamedTuple):
    forms: Mapping[str, str]
    """What is recorded, by our name of the tool."""
    install: Callable[[Any, Collection[str]], None]


_CLAUDE = _Native(forms=claude.TYPES, install=install_claude)
_OPENAI = _Native(
    forms={tool: f"openai:{kind}" for tool, kind in openai_items.TYPES.items()},
    install=install_openai,
)


def attach_native(model: Model, tools: Sequence[str], mode: NativeTools) -> Mapping[str, str]:
    """Offer tools in the provider's own form from now on; once per model, before its first call.

    Inspect's own switch for native tools is turned off in every mode, so that what is recorded here is what is sent.

    Args:
        model: The instance that will be asked.
        tools: Our names of the tools: ``bash``, ``text_editor``, ``apply_patch``.
        mode: Whether to.

    Returns:
        The form of each tool: ``function``, Anthropic's type (``bash_20250124``), ``openai:shell`` or
        ``openai:apply_patch``.

    Raises:
        UsageError: Native tools are demanded, and none of these can be for this model.
    """
    native = None if mode is NativeTools.OFF else _native_of(model)
    forms = {tool: native.forms[tool] for tool in tools if tool in native.forms} if native else {}
    if mode is NativeTools.ON and not forms:
        raise UsageError(
            f"{model} has none of {', '.join(tools)} in a form of its own that is known here; expected a Claude model "
            f"of the fourth generation or later at Anthropic, or a GPT model from 5.1 on with OpenAI's Responses API, "
            f"without batches. Use --native-tools auto."
        )
    model.config = model.config.merge({"internal_tools": False})
    if native and forms:
        translate(model, native.install, frozenset(forms))
    return {tool: forms.get(tool, FUNCTION) for tool in tools}


def _native_of(model: Model) -> _Native | None:
    """What a model's provider offers, as far as it can be translated.

    None through other platforms than the maker's (``anthropic/bedrock/…``, ``openai/azure/…``), whose support for
    these tools is not documented by the maker, and for batches, which do not pass the methods that are translated.
    """
    provider, _, name = str(model).partition("/")
    if model.config.batch:
        return None
    if provider == "anthropic" and claude.has_tools(name):
        return _CLAUDE
    if provider == "openai" and openai_items.has_tools(name) and getattr(model.api, "responses_api", False):
        return _OPENAI
    return None
