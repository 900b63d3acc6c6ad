"""``bw diff``."""

import os
from pathlib import Path

import click

from benchwright.app.results import diff
from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json, visible
from benchwright.cli.options import json_option
from benchwright.cli.storing import store_option


@click.command("diff")
@click.argument("a")
@click.argument("b")
@store_option
@json_option
def command(a: str, b: str, store: Path | None, as_json: bool) -> None:
    """Explain every verdict that differs between the gradings A and B.

    Each is a results folder, a result bundle (.bw.zip), or a run in the store: the beginning of its id, or its model's
    name.
    """
    report = diff(a, b, Workspace.from_environment(os.environ), store)
    if as_json:
        print_json(report.to_plain())
        return
    for name, value_a, value_b in report.settings:
        click.echo(visible(f"{name}: A {_short(value_a)}, B {_short(value_b)}"))
    click.echo(f"{report.compared} rows compared, {len(report.changes)} verdicts differ.")
    for change in report.changes:
        click.echo(visible(f"{change.problem_id}#{change.sample} {change.score}: {change.before} -> {change.after}"))
        click.echo(visible(f"    {change.explanation}"))
    for name, count in (("A", report.only_a), ("B", report.only_b)):
        if count:
            click.echo(f"{count} rows are in {name} only.")


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 24 else text[:12] + "…"
