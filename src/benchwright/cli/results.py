"""``bw results``."""

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.app.stored_results import Listing, list_results
from benchwright.app.workspace import Workspace
from benchwright.cli.main import EXIT_INTERRUPTED, print_json
from benchwright.cli.options import json_option
from benchwright.cli.storing import store_option
from benchwright.core.errors import UsageError

if TYPE_CHECKING:
    from benchwright.app.store_query import Answer

_SHOWN_ROWS = 200
"""Of a query; more are for a file."""
_SHOWN_RECORDS = 20
"""Of a query whose rows are too wide for a table: each is a block of lines then."""
_MANY = 200
"""Lines from which on a table is not drawn."""
_WIDTH = 160
"""Columns where the output is no terminal."""


@click.group("results")
def command() -> None:
    """List, show and query the runs in the store."""


@command.command("list")
@click.option("--benchmark", default=None, help="Only runs of this benchmark.")
@click.option("--subset", default=None, help="Only of this subset.")
@click.option("--variant", default=None, help="Only of this variant.")
@click.option("--model", default=None, help="Only of this model.")
@click.option("--superseded", is_flag=True, help="Also entries that another one of the same run replaces.")
@store_option
@json_option
def list_(store: Path | None, as_json: bool, **wanted: Any) -> None:
    """List the runs in the store, from its index."""
    listing = list_results(_workspace(), store, **wanted)
    if as_json:
        print_json(listing.to_plain())
    else:
        _show_list(listing)


def _show_list(listing: Listing) -> None:
    _show_damaged(listing.damaged)
    if not listing.runs:
        click.echo(
            f"There are no such runs in {listing.place}; `bw grade`, `bw run` and `bw store import` record some."
        )
        return
    columns = ("id", "benchmark", "model", "problems", "solved", "origin", "recorded", "flags")
    _print_table(f"{len(listing.runs)} {'run' if len(listing.runs) == 1 else 'runs'}", columns, listing.table)


def _show_damaged(texts: Iterable[str]) -> None:
    for text in texts:
        click.echo(f"bw: {text}", err=True)


@command.command("show")
@click.argument("run")
@store_option
@json_option
def show(run: str, store: Path | None, as_json: bool) -> None:
    """Show one RUN: the beginning of its id, its model's name, or a results folder."""
    from benchwright.app.stored_results import show_result

    shown = show_result(run, _workspace(), store)
    if as_json:
        print_json(shown.to_plain())
        return
    for name, value in shown.lines:
        click.echo(f"{name + ':':<14}{value}")


@command.command("query")
@click.argument("sql")
@click.option("--superseded", is_flag=True, help="Also entries that another one of the same run replaces.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option("--parquet", type=click.Path(path_type=Path), default=None, help="Write a Parquet file.")
@store_option
@json_option
def query(sql: str, superseded: bool, as_csv: bool, parquet: Path | None, store: Path | None, as_json: bool) -> None:
    """Answer one SELECT in DuckDB's SQL over the views runs, rows and problems.

    runs has a line per run, rows one per problem, sample and score (with the entry of its run), problems one per
    problem.  `bw results query "DESCRIBE rows"` says which columns there are.  Nothing else can be read or written.
    """
    from benchwright.app.store_query import QueryStuck, answer

    if as_csv and as_json:
        raise UsageError("--csv and --json are two forms of one answer; give one of them.")
    try:
        found = answer(sql, _workspace(), store, superseded=superseded)
    except QueryStuck:
        click.echo("bw: Interrupted.", err=True)
        os._exit(EXIT_INTERRUPTED)  # nothing is written that could be lost, and a proper end would wait for the query
    _show_damaged(() if as_json else found.damaged)
    if parquet is not None:
        found.write_parquet(parquet)
        if not as_json:
            click.echo(f"{found.count} rows written to {parquet}")
            return
    if as_json:
        print_json(found.to_plain() | ({} if parquet is None else {"parquet": str(parquet)}))
    elif as_csv:
        click.echo(found.to_csv(), nl=False)
    else:
        _show_answer(found)


def _show_answer(found: "Answer") -> None:
    title = f"{found.count} {'row' if found.count == 1 else 'rows'}"
    rows = found.texts(_SHOWN_ROWS)
    if _width([found.columns, *rows]) <= _room():
        _print_table(title, found.columns, rows)
    else:
        rows = rows[:_SHOWN_RECORDS]
        click.echo("\n".join([title, *(_record(found.columns, row) for row in rows)]))
    if found.count > len(rows):
        click.echo(f"… and {found.count - len(rows)} more rows; --csv prints and --parquet writes all of them.")


def _room() -> int:
    """Columns that a table may take."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _WIDTH


def _width(lines: Sequence[Sequence[str]]) -> int:
    """Columns of a drawn table in which no cell is broken."""
    from rich.cells import cell_len

    return 1 + sum(3 + max(map(cell_len, column)) for column in zip(*lines, strict=True))


def _record(columns: Sequence[str], row: Sequence[str]) -> str:
    """One row as a block of lines: a table that is wider than the terminal can be read by nobody."""
    longest = max(map(len, columns))
    return "\n".join(["", *(f"{name:<{longest}}  {cell}".rstrip() for name, cell in zip(columns, row, strict=True))])


def _print_table(title: str, columns: Iterable[str], rows: Iterable[Sequence[str]]) -> None:
    """A table of texts; `cli.tables` has one too, and loads everything that a grading needs."""
    lines = list(rows)
    if len(lines) > _MANY:
        _print_columns(title, [tuple(columns), *lines])
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    console = console if console.is_terminal else Console(highlight=False, width=_WIDTH)
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(escape(column), overflow="fold", no_wrap=number == 0)
    for row in lines:
        table.add_row(*map(escape, row))
    console.print(table)


def _print_columns(title: str, lines: Sequence[Sequence[str]]) -> None:
    """Plain columns: a drawn table of a thousand lines takes as long as everything else together, three times over."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    texts = (
        "  ".join(f"{cell}{' ' * (width - cell_len(cell))}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
    click.echo("\n".join([title, *texts]))


def _workspace() -> Workspace:
    return Workspace.from_environment(os.environ)
