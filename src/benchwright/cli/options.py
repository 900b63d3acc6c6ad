"""Options that several commands share, and how an execution shows its progress."""

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from benchwright.app.catalogue import sandboxes
from benchwright.app.workspace import default_workers
from benchwright.core.errors import UsageError
from benchwright.core.execution import Isolation

F = TypeVar("F", bound=Callable[..., Any])

_LINE_SECONDS = 30.0

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")

workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=None,
    help="CPU-bound jobs at once; default: the cores this process may use.",
)

isolation_option = click.option(
    "--isolation",
    type=click.Choice([level.value for level in Isolation]),
    default=Isolation.NAMESPACE.value,
    show_default=True,
    help="How strongly answers are kept apart; a weaker level is recorded in the result.",
)


def dataset_options(function: F) -> F:
    """``--subset --dataset --data-version``: which rows of a benchmark."""
    for option in reversed(
        (
            click.option("--subset", default=None, help="Subset of the benchmark, such as full or hard."),
            click.option(
                "--dataset",
                type=click.Path(path_type=Path),
                default=None,
                help="Local .jsonl, .jsonl.gz or .parquet file with the benchmark's rows; default: the published data.",
            ),
            click.option("--data-version", default=None, help="Version of the data, such as v0.1.4."),
        )
    ):
        function = option(function)
    return function


def run_options(function: F) -> F:
    """``--env --ids``: where to run, and which problems."""
    function = click.option("--ids", default=None, help="Only these problems, separated by commas.")(function)
    return click.option("--env", "environment", default=None, help="Environment to run in; see `bw env list`.")(
        function
    )


def sandbox_option(text: str) -> Callable[[F], F]:
    """``--sandbox``, with a help text: one of those built in or installed."""
    return click.option("--sandbox", type=click.Choice(sandboxes()), default="namespace", show_default=True, help=text)


def repository_options(function: F) -> F:
    """``--sandbox --repo-source --specs --rootfs --images``: where repository problems run, and out of what."""
    for option in reversed(
        (
            sandbox_option("Repository problems: what patches run in."),
            click.option(
                "--repo-source",
                "repo_sources",
                multiple=True,
                metavar="REPO=PLACE",
                help="Repository problems: local clone (or address) of a repository, such as sympy/sympy=../sympy; a "
                "name of * stands for all, {owner} and {name} in its place are filled in.",
            ),
            click.option(
                "--specs",
                type=click.Path(path_type=Path),
                default=None,
                help="Repository problems: folder with environment specifications of your own.",
            ),
            click.option(
                "--rootfs",
                type=click.Path(path_type=Path),
                default=None,
                help="Repository problems: tar archive of the root file system to build on; default: Debian's.",
            ),
            click.option(
                "--images",
                default=None,
                metavar="TEMPLATE",
                help="Repository problems, with --sandbox docker: pull images instead; official, epoch, or a name "
                "with {id} in it.",
            ),
        )
    ):
        function = option(function)
    return function


def denominator_options(function: F) -> F:
    """``--exclude --view``: which instances of repository problems the score is over."""
    for option in reversed(
        (
            click.option(
                "--exclude",
                multiple=True,
                metavar="LIST",
                help="Repository problems: exclusion list by name or file, or none; default: all that are known.",
            ),
            click.option(
                "--view",
                "views",
                multiple=True,
                type=click.Path(path_type=Path),
                help="Repository problems: file of ids to report as a further denominator.",
            ),
        )
    ):
        function = option(function)
    return function


REPOSITORIES_ONLY = {
    "sandbox": "--sandbox",
    "repo_sources": "--repo-source",
    "specs": "--specs",
    "rootfs": "--rootfs",
    "images": "--images",
    "exclude": "--exclude",
    "views": "--view",
}
"""Options of repository problems that several commands have, by parameter name."""


def given_options() -> frozenset[str]:
    """Names of the parameters of this command that the user gave."""
    context = click.get_current_context()
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(name for name, source in sources.items() if source is not click.core.ParameterSource.DEFAULT)


def refuse_given(names: dict[str, str], benchmark: str) -> None:
    """Refuse options that were given and mean nothing for this kind of benchmark.

    Args:
        names: What the user wrote, by parameter name.
        benchmark: What the message calls the benchmark.

    Raises `UsageError` naming the first of them.
    """
    given = given_options()
    for parameter, written in names.items():
        if parameter in given:
            raise UsageError(f"{written} means nothing for {benchmark}; leave it out.")


def split_ids(text: str | None) -> tuple[str, ...]:
    """Ids out of a comma-separated option; raises `UsageError` when it was given without any."""
    ids = tuple(part.strip() for part in (text or "").split(",") if part.strip())
    if text is not None and not ids:
        raise UsageError("--ids names no problem; give ids separated by commas, or leave it out for all of them.")
    return ids


def key_values(option: str, pairs: tuple[str, ...]) -> dict[str, Any]:
    """``name=value`` pairs of a repeated option; values are read as JSON where they are, as text where not.

    Raises `UsageError` for a pair without an equals sign.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, separator, text = pair.partition("=")
        if not separator or not name.strip():
            raise UsageError(f"{option} takes name=value; got {pair!r}.")
        try:
            values[name.strip()] = json.loads(text)
        except ValueError:
            values[name.strip()] = text
    return values


@contextlib.contextmanager
def inspect_needed() -> Iterator[None]:
    """Say plainly what to install when Inspect is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("inspect_ai", "anyio"):  # the one brings the other
            raise
        raise UsageError(
            "This needs Inspect, which is not installed; install benchwright with its extra 'inspect' "
            "(in a checkout: pip install -e '.[inspect]')."
        ) from error


def workers_or_default(workers: int | None) -> int:
    """The number asked for, or all cores."""
    return workers or default_workers()


@contextlib.contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error with rate and time left; a line every half minute when that is no terminal."""
    if not sys.stderr.isatty():
        said = time.monotonic()

        def say(done: int, total: int) -> None:
            nonlocal said
            if time.monotonic() - said >= _LINE_SECONDS:
                said = time.monotonic()
                click.echo(f"{label}: {done} of {total}", err=True)

        yield say
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None, rate="")

        def update(done: int, total: int) -> None:
            speed = bar.tasks[0].finished_speed or bar.tasks[0].speed
            bar.update(task, completed=done, total=total, rate=f"{speed:.1f}/s" if speed else "")

        yield update
