"""Recording at the end of a command: the options, and what is said of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from benchwright.app.recording import check_store, record_finished
from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json
from benchwright.core.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])

store_option = click.option(
    "--store",
    type=click.Path(path_type=Path),
    default=None,
    help="Store of results; default: BENCHWRIGHT_STORE, or results in the benchwright home.",
)


def recording_options(function: F) -> F:
    """``--store --no-store``: where a finished result is recorded, if at all."""
    function = click.option("--no-store", is_flag=True, help="Do not record the results in the store.")(function)
    return store_option(function)


def store_to_record_in(workspace: Workspace, store: Path | None, *, no_store: bool) -> Path | None:
    """The store to record in, or None; raises before anything runs when it is none that can be used."""
    if no_store and store is not None:
        raise UsageError("--store and --no-store contradict each other; give one of them.")
    return None if no_store else check_store(workspace, store)


def finish(
    folder: Path, root: Path | None, plain: Callable[[], dict[str, Any]], show: Callable[[], None], *, as_json: bool
) -> None:
    """Record what a command has finished, and print it with where it was recorded.

    When recording fails, the results are printed all the same, and the reason is raised afterwards.

    Args:
        folder: The results folder.
        root: The store, or None.
        plain: The object of ``--json``.
        show: Prints the results for people.
        as_json: Which of the two is wanted.
    """
    recorded = record_finished(folder, root)
    if as_json:
        print_json({**plain(), "stored": recorded.entry})
    else:
        show()
        if recorded.entry is not None:
            click.echo(f"recorded in the store: bw results show {recorded.entry[:12]}")
        elif root is not None and recorded.problem is None:
            click.echo("not recorded in the store, because it is not complete")
    recorded.raise_problem()
