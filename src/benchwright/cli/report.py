"""``bw report``."""

import os
from pathlib import Path

import click

from benchwright.app.reporting import ReportRequest, report
from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json
from benchwright.cli.options import json_option
from benchwright.cli.report_sections import markdown, sections, show
from benchwright.cli.storing import store_option
from benchwright.cli.tables import console
from benchwright.core.errors import UsageError
from benchwright.core.runs import Score


@click.command("report")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--score",
    type=click.Choice([score.value for score in Score]),
    default=None,
    help="The score that counts; default: the last of each run, which is calibrated or patch as a rule.",
)
@click.option(
    "--dataset",
    type=click.Path(path_type=Path),
    default=None,
    help="File with the benchmark's rows, for results that do not say what their problems are about.",
)
@click.option(
    "--domains",
    type=click.Path(path_type=Path),
    default=None,
    help="JSON file with domains by library, or by task, such as BigCodeBench's lib2domain.json.",
)
@click.option("--all-groups", is_flag=True, help="Show every group of the breakdowns, not only the first 15.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@store_option
@json_option
def command(
    runs: tuple[str, ...],
    score: str | None,
    dataset: Path | None,
    domains: Path | None,
    all_groups: bool,
    as_markdown: bool,
    store: Path | None,
    as_json: bool,
) -> None:
    """Say everything that RUNS say: estimates, repeats, where models fail, suspect problems, costs.

    A run is a results folder, an entry of the store (the beginning of its id will do) or a model, which means all of
    its runs.  Runs of one model under equal conditions are repeats.  Nothing is executed.
    """
    if as_markdown and as_json:
        raise UsageError("Both --markdown and --json were given; choose one of them.")
    request = ReportRequest(
        runs=runs, score=None if score is None else Score(score), dataset=dataset, domains=domains, store=store
    )
    found = report(request, Workspace.from_environment(os.environ))
    if as_json:
        print_json(found.to_plain())
    elif as_markdown:
        click.echo(markdown(sections(found, all_groups=all_groups)), nl=False)
    else:
        show(console(), sections(found, all_groups=all_groups))
