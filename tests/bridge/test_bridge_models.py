"""Which model a name opens, how it is spoken to, and what is said when it cannot be opened."""

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelAPI, ModelOutput, modelapi

from benchwright.bridge import models
from benchwright.bridge.models import ModelSettings, OpenModel, open_model, without_credentials, without_secrets
from benchwright.core.errors import UsageError
from benchwright.core.prompts import Mode


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A key and an address for the server ``fake``, and for no other provider."""
    for provider in ("OPENAI", "AZUREAI_OPENAI", "ANTHROPIC", "MISTRAL"):
        for variable in ("API_KEY", "BASE_URL"):
            monkeypatch.delenv(f"{provider}_{variable}", raising=False)
    monkeypatch.setenv("FAKE_API_KEY", "a key")
    monkeypatch.setenv("FAKE_BASE_URL", "http://127.0.0.1:9/v1")
    yield


def opened(name: str, **settings: Any) -> OpenModel:
    """A model by name."""
    return open_model(ModelSettings(name=name, **settings))


class Tokenizer(SimpleNamespace):
    """What local providers hold: its chat template is None when the model has none."""

    chat_template: str | None


@modelapi(name="tokenizing")
class Tokenizing(ModelAPI):
    """A provider that holds a tokenizer."""

    def __init__(self, model_name: str, template: str | None = None, **arguments: Any) -> None:
        super().__init__(model_name, None, None, [], arguments.get("config", GenerateConfig()))
        self.tokenizer = Tokenizer(chat_template=template)

    async def generate(self, input: list[ChatMessage], *rest: Any, **named: Any) -> ModelOutput:
        """Nothing: only opening is tested."""
        raise NotImplementedError


@pytest.mark.parametrize("name", ["gpt-4o", "openai/", ""])
def test_a_name_without_a_provider_is_refused(name: str) -> None:
    """The sentence shows the form that was expected, and what came."""
    with pytest.raises(UsageError, match=f"named provider/model, such as openai/gpt-4o .* got '{name}'"):
        opened(name)


@pytest.mark.parametrize("name", ["nosuch/m", "/m"])
def test_an_unknown_provider_is_refused(name: str) -> None:
    """The sentence says that the provider is not known, and where known ones are listed."""
    with pytest.raises(UsageError, match=f"The model {name} cannot be opened: .* not recognized.*Known providers"):
        opened(name)


@pytest.mark.parametrize(
    ("name", "variable"),
    [("openai/gpt-4o", "OPENAI_API_KEY"), ("openai-api/other/m", "OTHER_API_KEY")],
)
def test_a_missing_key_is_named(name: str, variable: str) -> None:
    """The sentence names the environment variable to set, in one line and without the terminal's markup."""
    with pytest.raises(UsageError, match=f"cannot be opened: .*{variable}") as caught:
        opened(name)
    assert "\n" not in str(caught.value)
    assert "[" not in str(caught.value)
    assert "ERROR" not in str(caught.value)


def test_a_missing_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of the OpenAI kind needs an address, and the sentence names the variable for it."""
    monkeypatch.delenv("FAKE_BASE_URL")
    with pytest.raises(UsageError, match="No FAKE_BASE_URL defined"):
        opened("openai-api/fake/m")
    assert opened("openai-api/fake/m", base_url="http://127.0.0.1:9/v1").served_by == "openai-api"


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider whose package is not installed says which one to install."""
    monkeypatch.setitem(sys.modules, "groq", None)
    with pytest.raises(UsageError, match=r"cannot be opened: .*pip install groq"):
        opened("groq/m")


def test_an_unknown_argument_is_refused() -> None:
    """An argument that the provider does not take is named."""
    with pytest.raises(UsageError, match=r"openai-api/fake/m cannot be opened: .*'nonsense'\. "):
        opened("openai-api/fake/m", args={"nonsense": 1})


def test_every_opening_makes_a_model_of_its_own() -> None:
    """Two runs in one process never share an instance, for calls are counted on it."""
    assert opened("openai-api/fake/m").model is not opened("openai-api/fake/m").model


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("openai-api/fake/m", Mode.CHAT),
        ("openai-api/fake/m-base", Mode.BASE),
        ("openai-api/fake/org/Base-7B", Mode.BASE),
        ("openai-api/fake/gemma-2-9b-pt", Mode.BASE),
        ("openai-api/fake/m.base", Mode.BASE),
        # only a part of the name on its own says so
        ("openai-api/fake/database", Mode.CHAT),
        ("openai-api/fake/m-baseline", Mode.CHAT),
        ("openai-api/fake/gpt-4", Mode.CHAT),
        ("openai-api/fake/base/m", Mode.CHAT),
        # the endpoint itself is one for raw text
        ("openai-api-completions/fake/m", Mode.BASE),
        ("mockllm/m", Mode.CHAT),
        ("mockllm/m-base", Mode.BASE),
    ],
)
def test_the_name_decides_the_mode(name: str, mode: Mode) -> None:
    """Without being asked for, a model is a base model when its name or its endpoint says so."""
    assert opened(name).mode is mode


def test_the_reason_for_the_mode_is_said() -> None:
    """Why a model is spoken to in its mode is part of what was opened."""
    assert opened("openai-api/fake/m").mode_reason == "nothing says that it is a base model"
    assert opened("openai-api/fake/m-base").mode_reason == "its name says that it is a base model"
    assert opened("openai-api-completions/fake/m").mode_reason == "openai-api-completions is a completions endpoint"
    assert opened("openai-api/fake/m", mode=Mode.CHAT).mode_reason == "asked for"


@pytest.mark.parametrize(("template", "mode"), [(None, Mode.BASE), ("{{ messages }}", Mode.CHAT)])
def test_a_tokenizer_without_a_chat_template_makes_a_base_model(template: str | None, mode: Mode) -> None:
    """Where the provider holds the tokenizer, that decides; asking for a mode decides before it."""
    found = opened("tokenizing/m", args={"template": template})
    assert (found.mode, "no chat template" in found.mode_reason) == (mode, mode is Mode.BASE)
    assert opened("tokenizing/m", args={"template": template}, mode=Mode.CHAT).mode is Mode.CHAT


def test_asking_for_a_mode_decides() -> None:
    """What is asked for holds against what the name says, both ways."""
    assert opened("openai-api/fake/m", mode=Mode.BASE).mode is Mode.BASE
    assert opened("openai-api/fake/m-base", mode=Mode.CHAT).mode is Mode.CHAT


def test_base_mode_picks_the_completions_endpoint() -> None:
    """In base mode the same server is asked through its endpoint for raw text; the model keeps its name."""
    found = opened("openai-api/fake/m", mode=Mode.BASE)
    assert (found.name, found.served_by) == ("openai-api/fake/m", "openai-api-completions")
    assert str(found.model) == "openai-api-completions/fake/m"
    assert opened("openai-api/fake/m").served_by == "openai-api"


def test_local_models_are_told_to_send_the_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Hugging Face model in base mode gets its text raw, unless the user says otherwise."""
    seen: list[dict[str, Any]] = []

    def get_model(name: str, **arguments: Any) -> Model:
        seen.append({"name": name, **arguments})
        return SimpleNamespace(api=SimpleNamespace())  # type: ignore[return-value]

    monkeypatch.setattr(models, "get_model", get_model)
    assert opened("hf/org/m", mode=Mode.BASE).served_by == "hf"
    opened("hf/org/m", mode=Mode.BASE, args={"chat_template": "mine"})
    opened("hf/org/m", mode=Mode.CHAT)
    assert opened("vllm/org/m-base").served_by == "vllm-completions"
    assert [(call["name"], call.get("chat_template")) for call in seen] == [
        ("hf/org/m", "{{ messages[0]['content'] }}"),
        ("hf/org/m", "mine"),
        ("hf/org/m", None),
        ("vllm-completions/org/m-base", None),
    ]


def test_base_mode_is_refused_without_an_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that takes conversations only cannot continue a raw text, and the sentence says which ones can."""
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    with pytest.raises(UsageError, match="the provider 'openai' has no endpoint for; use openai-api/"):
        opened("openai/gpt-4o", mode=Mode.BASE)


def test_a_base_name_alone_does_not_refuse_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """When only the name speaks of a base model and there is no endpoint, it is asked as a chat model; that is said."""
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    found = opened("openai/m-base")
    assert (found.mode, found.served_by) == (Mode.CHAT, "openai")
    assert "openai has no completions endpoint" in found.mode_reason


def test_what_is_written_down_holds_no_secret() -> None:
    """Arguments that name a secret are hidden at any depth, and what is no plain data is named by its type."""
    args = {
        "api_key": "s3cret",
        "azure_ad_token": "s3cret",
        "default_headers": {"X-Auth": "s3cret"},
        "options": {"client-secret": "s3cret", "region": "eu"},
        "tokenizer_path": "org/m",
        "max_tokens": 5,
        "outputs": print,
    }
    assert without_secrets(args) == {
        "api_key": "(hidden)",
        "azure_ad_token": "(hidden)",
        "default_headers": "(hidden)",
        "max_tokens": 5,
        "options": {"client-secret": "(hidden)", "region": "eu"},
        "outputs": "(builtin_function_or_method)",
        "tokenizer_path": "org/m",
    }


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (None, None),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://me:s3cret@host:8/v1?key=s3cret", "https://host:8/v1"),
        ("https://s3cret@host/v1", "https://host/v1"),
    ],
)
def test_an_address_is_shown_without_credentials(url: str | None, shown: str | None) -> None:
    """User, password and query of an address may be secrets, and are left out wherever it is written."""
    assert without_credentials(url) == shown
