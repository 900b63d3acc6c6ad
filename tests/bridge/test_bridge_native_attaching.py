"""Which tools take their provider's form, for which model and in which mode."""

import importlib.util
from typing import Any

import pytest
from inspect_ai.model import GenerateConfig, Model, get_model

from benchwright.bridge.native import attach_native
from benchwright.core.agents import NativeTools
from benchwright.core.errors import UsageError

TOOLS = ("bash", "text_editor", "apply_patch")
FUNCTIONS = dict.fromkeys(TOOLS, "function")


def model(name: str, **options: Any) -> Model:
    """A model that is never called; skips the test where its client is not installed."""
    package = {"openai-api": "openai"}.get(name.partition("/")[0], name.partition("/")[0])
    if package in ("openai", "anthropic") and importlib.util.find_spec(package) is None:
        pytest.skip(f"the client package {package} is not installed")
    return get_model(name, api_key="none", memoize=False, **options)


@pytest.mark.parametrize("mode", [NativeTools.AUTO, NativeTools.ON])
@pytest.mark.parametrize(
    ("name", "forms"),
    [
        (
            "anthropic/claude-sonnet-4-5",
            {"bash": "bash_20250124", "text_editor": "text_editor_20250728", "apply_patch": "function"},
        ),
        ("openai/gpt-5.1", {"bash": "openai:shell", "text_editor": "function", "apply_patch": "openai:apply_patch"}),
    ],
)
def test_forms_where_the_provider_has_them(name: str, forms: dict[str, str], mode: NativeTools) -> None:
    """What the provider has takes its form, what it has not stays a function, also when native tools are demanded."""
    assert attach_native(model(name), TOOLS, mode) == forms
    assert attach_native(model(name), ("bash",), mode) == {"bash": forms["bash"]}


@pytest.mark.parametrize("name", ["anthropic/claude-sonnet-4-5", "openai/gpt-5.1", "mockllm/model"])
def test_off_is_off(name: str) -> None:
    """Nothing is put before the provider, and Inspect is told not to use native forms of its own."""
    opened = model(name)
    before = opened.api.generate
    assert attach_native(opened, TOOLS, NativeTools.OFF) == FUNCTIONS
    assert opened.api.generate == before
    assert opened.config.internal_tools is False


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mockllm/model", {}),
        ("anthropic/claude-3-7-sonnet-latest", {}),
        ("anthropic/claude-sonnet-4-5", {"config": GenerateConfig(batch=True)}),
        ("openai/gpt-5", {}),
        ("openai/gpt-5.1", {"responses_api": False}),
        ("openai-api/some/gpt-5.1", {"base_url": "http://127.0.0.1:9/v1"}),
    ],
)
def test_models_without(name: str, options: dict[str, Any]) -> None:
    """An unknown or older model, another API and batches have functions only; demanding more is an error."""
    opened = model(name, **options)
    before = opened.api.generate
    assert attach_native(opened, TOOLS, NativeTools.AUTO) == FUNCTIONS
    assert opened.api.generate == before
    with pytest.raises(UsageError, match=r"has none of bash, text_editor, apply_patch.*--native-tools auto"):
        attach_native(opened, TOOLS, NativeTools.ON)


def test_a_tool_that_the_provider_does_not_have() -> None:
    """Native tools are demanded of a set in which there is none."""
    with pytest.raises(UsageError, match="anthropic/claude-sonnet-4-5 has none of apply_patch in a form"):
        attach_native(model("anthropic/claude-sonnet-4-5"), ("apply_patch",), NativeTools.ON)
