"""``bw regrade``."""

import os
from pathlib import Path

import click

from benchwright.app.results import RegradeReport, regrade
from benchwright.app.workspace import Workspace
from benchwright.cli.options import json_option
from benchwright.cli.storing import finish, recording_options, store_to_record_in
from benchwright.core.errors import UsageError


@click.command("regrade")
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Of a bundle: new folder for the result.")
@recording_options
@json_option
def command(results: Path, out: Path | None, store: Path | None, no_store: bool, as_json: bool) -> None:
    """Judge the stored records of a grading again.  RESULTS is the folder that `bw grade` wrote.

    Nothing is executed.  Rows that change are written anew, the earlier ones kept beside them.  RESULTS may be a
    result bundle (.bw.zip), which is judged by the records it brings, into the folder given with --out; that is not
    recorded, for what others executed comes into the store with `bw store import`.
    """
    workspace = Workspace.from_environment(os.environ)
    if out is not None and store is not None:
        raise UsageError("What comes out of a bundle is not recorded; leave --store out.")
    root = store_to_record_in(workspace, store, no_store=no_store or out is not None)
    report = regrade(results, workspace, out=out)
    finish(report.folder, root, report.to_plain, lambda: _show(report), as_json=as_json)


def _show(report: RegradeReport) -> None:
    click.echo(f"{report.judged} of {report.rows} rows judged again, {len(report.changes)} verdicts changed.")
    if report.without_record:
        click.echo(f"{report.without_record} rows have no record in this store; their verdicts are kept.")
    for change in report.changes:
        click.echo(f"{change.problem_id}#{change.sample} {change.score}: {change.before} -> {change.after}")
