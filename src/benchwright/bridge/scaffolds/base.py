"""What a scaffold is to a run: an Inspect agent, what it needs in the sandbox, and what is recorded of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from inspect_ai.agent import Agent
from inspect_ai.model import Model

from benchwright.bridge.accounts import Account
from benchwright.core.agents import NativeTools

SHARED = "/.benchwright/scaffold"
"""Where a scaffold's own files are seen inside the sandbox, read-only."""


PROGRAM_ORIGIN = "program_origin"
"""Fact that says where a program was found; the same program found elsewhere makes no other run."""

FUNCTION = "function"
"""Form of a tool that is offered as a plain function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaffoldSettings:
    """How a scaffold is to work; the same for all samples of a run."""

    native_tools: NativeTools = NativeTools.AUTO
    command_seconds: int = 180
    """Time limit of a command for which the model asks for none."""
    longest_command_seconds: int = 1800
    """The most that it can ask for."""
    output_bytes: int = 16 * 1024
    """Of one command that are shown to the model; the middle of longer outputs is left out."""
    version: str | None = None
    """Of a scaffold's program; None takes the pinned one, or what the user has installed."""
    program: Path | None = None
    """The scaffold's program, or the folder it was installed in; None looks in the usual places."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Further settings that only some scaffolds know."""
    fetch: bool = True
    """Whether a program that is not here may be fetched; if not, `Scaffold.ready` writes nothing and asks no network,
    and what it says of a program that is missing is for showing, not for a run."""
    say: Callable[[str], None] = lambda line: None
    """Told, in a line for a person, what takes a while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyScaffold:
    """A scaffold that has found everything it needs, for one model."""

    facts: Mapping[str, str]
    """Recorded with every result, such as the version of a program."""
    forms: Mapping[str, str]
    """By tool, the form in which the model is offered it: `FUNCTION`, or a provider's own name; empty where the tools
    are the scaffold's own."""
    shared: Mapping[str, Path]
    """Host folders by path inside, to be mounted read-only."""
    limit_command: bool
    """Whether the agent asks for its budget with a command in the sandbox, not being told after every turn."""


class Scaffold(Protocol):
    """Lets a model act."""

    @property
    def name(self) -> str:
        """Name in the registry."""

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that the prompt speaks of; empty for a scaffold that explains its own."""

    def ready(self, model: Model, settings: ScaffoldSettings) -> ReadyScaffold:
        """Look for everything that is needed, before anything is spent; raises `UsageError` that says what is missing.

        May put a translator of native tools between the model and its provider.
        """

    def agent(self, settings: ScaffoldSettings, account: Account) -> Agent:
        """An agent for one sample.

        It works in Inspect's current sandbox with Inspect's current model, on a conversation that begins with the
        prompt, until the model hands in, gives up, refuses, overflows its context, or `Account.over` says why not to
        go on; it tells the account which (`Account.end`).  Errors of the provider and of the sandbox pass through.
        """
