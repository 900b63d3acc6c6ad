"""The options of ``bw run`` that only repository problems have."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from benchwright.cli.options import REPOSITORIES_ONLY, denominator_options, repository_options
from benchwright.core.agents import CACHED_READS, UNCACHED_TOKENS, NativeTools

F = TypeVar("F", bound=Callable[..., Any])

AGENTS_ONLY = {
    **REPOSITORIES_ONLY,
    "scaffold": "--scaffold",
    "scaffold_version": "--scaffold-version",
    "program": "--program",
    "scaffold_options": "--scaffold-option",
    "native_tools": "--native-tools",
    "uncached_tokens": "--sample-tokens",
    "cached_reads": "--sample-cached-tokens",
    "sample_turns": "--sample-turns",
    "sample_seconds": "--sample-seconds",
    "sample_cost": "--sample-cost",
    "command_seconds": "--command-seconds",
    "at_once": "--at-once",
    "include_ignored": "--include-ignored",
    "test_timeout": "--test-timeout",
}
"""Options that mean nothing for benchmarks of functions, by parameter name."""


def agent_options(function: F) -> F:
    """The options of ``bw run`` that only repository problems have."""
    for option in reversed(
        (
            click.option(
                "--scaffold",
                default="loop",
                show_default=True,
                help="Repository problems: loop, bash-only, claude-code, codex, mini-swe-agent, or one installed.",
            ),
            click.option("--scaffold-version", default=None, help="Repository problems: of the scaffold's program."),
            click.option(
                "--program",
                type=click.Path(path_type=Path),
                default=None,
                help="Repository problems: the scaffold's program, or the folder it is in.",
            ),
            click.option(
                "--scaffold-option",
                "scaffold_options",
                multiple=True,
                metavar="NAME=VALUE",
                help="Repository problems: a setting that only this scaffold has; may be repeated.",
            ),
            click.option(
                "--native-tools",
                type=click.Choice([mode.value for mode in NativeTools]),
                default=NativeTools.AUTO.value,
                show_default=True,
                help="Repository problems: whether tools are offered in a form of the provider's own.",
            ),
            click.option(
                "--sample-tokens",
                "uncached_tokens",
                type=click.IntRange(min=0),
                default=UNCACHED_TOKENS,
                show_default=True,
                help="Repository problems: uncached tokens (input, cache writes, output) of one sample; 0: no limit.",
            ),
            click.option(
                "--sample-cached-tokens",
                "cached_reads",
                type=click.IntRange(min=0),
                default=CACHED_READS,
                show_default=True,
                help="Repository problems: tokens of one sample that are read from a cache; 0: no limit.",
            ),
            click.option(
                "--sample-turns", type=click.IntRange(min=1), default=None, help="Repository problems: most turns."
            ),
            click.option(
                "--sample-seconds",
                type=click.FloatRange(min=0, min_open=True),
                default=None,
                help="Repository problems: most seconds of one sample.",
            ),
            click.option(
                "--sample-cost",
                type=click.FloatRange(min=0, min_open=True),
                default=None,
                help="Repository problems: most US dollars of one sample.",
            ),
            click.option(
                "--command-seconds",
                type=click.IntRange(min=1, max=86_400),
                default=180,
                show_default=True,
                help="Repository problems: time limit of an agent's command that asks for none.",
            ),
            click.option(
                "--at-once",
                type=click.IntRange(min=1),
                default=None,
                help="Repository problems: samples worked on side by side; default: two for each core.",
            ),
            click.option(
                "--include-ignored",
                is_flag=True,
                help="Repository problems: take new files that git ignores into the submission.",
            ),
            click.option(
                "--test-timeout",
                type=click.IntRange(min=1, max=86_400),
                default=1800,
                show_default=True,
                help="Repository problems: seconds the graded tests may take.",
            ),
        )
    ):
        function = option(function)
    return repository_options(denominator_options(function))


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentChoices:
    """What these options were given, those of the selection and of grading left aside."""

    scaffold: str
    scaffold_version: str | None
    scaffold_options: tuple[str, ...]
    program: Path | None
    native_tools: str
    uncached_tokens: int
    cached_reads: int
    sample_turns: int | None
    sample_seconds: float | None
    sample_cost: float | None
    command_seconds: int
    at_once: int | None
    include_ignored: bool
    exclude: tuple[str, ...]
    views: tuple[Path, ...]
