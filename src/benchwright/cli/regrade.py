"""``bw regrade``."""

import os
from pathlib import Path

import click

from benchwright.app.results import regrade
from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json
from benchwright.cli.options import json_option


@click.command("regrade")
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Of a bundle: new folder for the result.")
@json_option
def command(results: Path, out: Path | None, as_json: bool) -> None:
    """Judge the stored records of a grading again.  RESULTS is the folder that `bw grade` wrote.

    Nothing is executed.  Rows that change are written anew, the earlier ones kept beside them.  RESULTS may be a
    result bundle (.bw.zip), which is judged by the records it brings, into the folder given with --out.
    """
    report = regrade(results, Workspace.from_environment(os.environ), out=out)
    if as_json:
        print_json(report.to_plain())
        return
    click.echo(f"{report.judged} of {report.rows} rows judged again, {len(report.changes)} verdicts changed.")
    if report.without_record:
        click.echo(f"{report.without_record} rows have no record in this store; their verdicts are kept.")
    for change in report.changes:
        click.echo(f"{change.problem_id}#{change.sample} {change.score}: {change.before} -> {change.after}")
