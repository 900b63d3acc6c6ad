"""Models by name, through Inspect's providers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from inspect_ai.model import Model, get_model

from benchwright.bridge.inspect_private import PrerequisiteError, log_base_url
from benchwright.core.errors import UsageError
from benchwright.core.prompts import Mode

# Providers that speak to a raw completions endpoint, by the chat provider of the same server.
_COMPLETIONS = {"openai-api": "openai-api-completions", "vllm": "vllm-completions"}
# Providers that make the prompt themselves, from a template that can be given: this one is the message and no more.
# (Without any template, Inspect would write the role in front.)
_TEMPLATED = {"hf"}
_RAW_TEMPLATE = "{{ messages[0]['content'] }}"
# Arguments of Inspect's get_model() itself, which are settled here.
_RESERVED = {"model", "role", "required", "default", "config", "base_url", "memoize"}
_SCRIPTED = {"mockllm", "benchwright"}
_BASE_NAME = re.compile(r"(?:^|[-_/.])(?:base|pt)(?:$|[-_/.])", re.IGNORECASE)
_MARKUP = re.compile(r"\[/?[a-z][a-z ]*\]")
# Words of an argument's name: tokenizer_path and reasoning_tokens are no secrets.
_SECRET = frozenset({
    "key", "keys", "apikey", "apikeys", "token", "secret", "secrets", "password", "passwd", "passphrase", "pwd", "auth",
    "authorization", "bearer", "jwt", "pat", "sig", "signature", "credential", "credentials", "cookie", "cookies",
    "header", "headers",
})  # fmt: skip
_SECRET_ENDS = ("apikey", "token", "secret", "password", "passwd")
_SECRET_VALUE = re.compile(r"://[^/@\s]+:[^/@\s]+@|\bBearer\s|\b(?:sk|ghp|hf)[-_][\w-]{8,}")
_SHORTEST_SECRET = 8
"""Shorter values are words that would be missed in plain texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Which model, where, and how it is spoken to."""

    name: str
    """In Inspect's form ``provider/model``."""
    base_url: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict)
    """Passed on to the provider."""
    mode: Mode | None = None
    """None decides by the model: see :func:`open_model`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenModel:
    """A model that is ready to be called."""

    model: Model
    name: str
    """As it was asked for."""
    served_by: str
    """The provider that is used, which in base mode may be another one of the same server."""
    mode: Mode
    mode_reason: str
    """Why it is spoken to in this mode."""


def open_model(settings: ModelSettings) -> OpenModel:
    """A new instance of a model.

    Without a mode, a model is a base model when its provider is a completions endpoint, when its tokenizer has no
    chat template (``hf/``), or when its name says so (``-base``, ``-pt``); any other is a chat model.  Raises
    `UsageError` for an unknown provider, a missing key or package, and base mode where there is no endpoint for it.
    """
    provider, separator, rest = settings.name.partition("/")
    if not separator or not rest:
        raise UsageError(
            f"A model is named provider/model, such as openai/gpt-4o or vllm/org/model; got {settings.name!r}."
        )
    mode, reason = _mode_by_name(settings, provider)
    args = dict(settings.args)
    served = provider
    if mode is Mode.BASE:
        served = _base_provider(provider)
        if provider in _TEMPLATED:
            args.setdefault("chat_template", _RAW_TEMPLATE)
    model = _get_model(f"{served}/{rest}", settings.base_url, args)
    if settings.mode is None and mode is Mode.CHAT and _lacks_chat_template(model):
        mode, reason = Mode.BASE, "its tokenizer has no chat template"
        model.api.chat_template = _RAW_TEMPLATE  # type: ignore[attr-defined]  # hf's own
    return OpenModel(model=model, name=settings.name, served_by=served, mode=mode, mode_reason=reason)


def _mode_by_name(settings: ModelSettings, provider: str) -> tuple[Mode, str]:
    if settings.mode is not None:
        return settings.mode, "asked for"
    if provider in _COMPLETIONS.values():
        return Mode.BASE, f"{provider} is a completions endpoint"
    if _BASE_NAME.search(settings.name.rpartition("/")[2]):
        if provider in _COMPLETIONS or provider in _TEMPLATED | _SCRIPTED:
            return Mode.BASE, "its name says that it is a base model"
        return Mode.CHAT, f"its name says that it is a base model, but {provider} has no completions endpoint"
    return Mode.CHAT, "nothing says that it is a base model"


def _base_provider(provider: str) -> str:
    if provider in _COMPLETIONS:
        return _COMPLETIONS[provider]
    if provider in _COMPLETIONS.values() or provider in _TEMPLATED | _SCRIPTED:
        return provider
    raise UsageError(
        f"Base mode sends a raw text to continue, which the provider {provider!r} has no endpoint for; use "
        f"openai-api/<server>/<model>, vllm/<model> or hf/<model>, or --mode chat."
    )


def refuse_chat_endpoint(name: str) -> None:
    """Raise `UsageError` for a model whose provider cannot continue a raw text, under the name it is served by."""
    provider, _, rest = name.partition("/")
    served = _base_provider(provider)
    if served != provider:
        raise UsageError(f"{provider} sends messages; to let {rest} continue a raw text, name it {served}/{rest}.")


def _get_model(name: str, base_url: str | None, args: Mapping[str, Any]) -> Model:
    reserved = sorted(_RESERVED & args.keys())
    if reserved:
        raise UsageError(
            f"--model-arg {reserved[0]} is not for the provider; `bw run` settles it with its own options."
        )
    shown = without_credentials(base_url)
    try:
        # Not memoised: calls are counted on this instance, which nobody else may hold.
        model = get_model(name, base_url=base_url, memoize=False, **args)
    except PrerequisiteError as error:
        raise UsageError(f"The model {name} cannot be opened: {plain_message(error)}") from error
    except (ValueError, TypeError, AttributeError, ImportError, OSError) as error:
        raise UsageError(
            f"The model {name} cannot be opened: {str(error).rstrip('.')}. Known providers are listed in Inspect's "
            f"documentation (such as openai, anthropic, google, vllm, hf, openai-api)."
        ) from error
    # The provider has them; what is kept here is only written into logs.
    model.model_args = without_secrets(args)
    log_base_url(model, shown)
    return model


def without_secrets(args: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as they may be written down: no secret, and plain data only."""
    return {name: _hidden(name, value) for name, value in sorted(args.items())}


def _hidden(name: str, value: Any) -> Any:
    if _names_a_secret(name) or (isinstance(value, str) and _SECRET_VALUE.search(value)):
        return "(hidden)"
    if isinstance(value, dict):
        return without_secrets(value)
    if isinstance(value, list):
        return [_hidden("", item) for item in value]
    plain = value is None or isinstance(value, (str, int, float, bool))
    return value if plain else f"({type(value).__name__})"


def _names_a_secret(name: str) -> bool:
    words = re.split(r"[\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())
    return any(word in _SECRET or word.endswith(_SECRET_ENDS) for word in words)


def secrets_of(settings: ModelSettings, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Texts that may be written nowhere: values of the environment and of arguments whose names speak of secrets."""
    named = [*variables.items(), *settings.args.items()]
    values = [value for name, value in named if isinstance(value, str) and _names_a_secret(name)]
    if settings.base_url is not None:
        values.append(urlsplit(settings.base_url).password or "")
    return tuple(sorted({value for value in values if len(value) >= _SHORTEST_SECRET}, key=len, reverse=True))


def without_credentials(url: str | None) -> str | None:
    """An address as it may be written down: without user, password and query; raises `UsageError` for no address."""
    if url is None:
        return None
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageError(f"--model-base-url is no address ({error}).") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", url):
        raise UsageError("--model-base-url is no address; expected one such as http://127.0.0.1:8000/v1.")
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def plain_message(error: PrerequisiteError) -> str:
    """The message of an error of Inspect's in one line, without its terminal markup."""
    text = _MARKUP.sub("", str(error.message))
    return " ".join(text.removeprefix("ERROR:").split()).removeprefix("ERROR: ")


def _lacks_chat_template(model: Model) -> bool:
    """Whether the provider holds a tokenizer that has no chat template."""
    tokenizer = getattr(model.api, "tokenizer", None)
    return tokenizer is not None and getattr(tokenizer, "chat_template", "") is None
