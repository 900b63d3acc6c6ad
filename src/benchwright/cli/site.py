"""``bw site``."""

import os
from datetime import datetime, time
from pathlib import Path

import click

from benchwright.app.site import AnswerChoice, Imports, SiteOptions, SiteReport, SiteRequest, Ties, build
from benchwright.app.site_serving import serve
from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json, visible
from benchwright.cli.options import json_option
from benchwright.cli.rating_options import rating_options
from benchwright.cli.storing import store_option
from benchwright.core.errors import UsageError

DEFAULT = Path("benchwright-site")


@click.group("site")
def command() -> None:
    """Build or serve the leaderboard's pages."""


@command.command("build")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    help="Folder for the site; a site that is there is replaced, another folder is left alone.",
)
@click.option("--title", default="Leaderboard", show_default=True, help="Title of the site.")
@click.option("--benchmark", "benchmarks", multiple=True, help="Only this benchmark; several.")
@click.option(
    "--dataset",
    "data",
    multiple=True,
    metavar="BENCHMARK=FILE",
    help="File with a benchmark's rows, so that pages of tasks show the prompts; several.",
)
@click.option(
    "--domains",
    type=click.Path(path_type=Path),
    default=None,
    help="JSON file with domains by library, or by task, such as BigCodeBench's lib2domain.json.",
)
@click.option(
    "--answers",
    type=click.Choice([one.value for one in AnswerChoice]),
    default=AnswerChoice.DIFFERING.value,
    show_default=True,
    help="Answers on the pages of tasks: to no task, to those on which models differ, to all.",
)
@click.option(
    "--answer-bytes",
    type=click.IntRange(min=200),
    default=20_000,
    show_default=True,
    help="Longest answer shown whole.",
)
@click.option(
    "--answers-megabytes",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    help="Most that all answers together may take; what has no room is left out and counted.",
)
@click.option(
    "--transcripts",
    default="",
    metavar="ADDRESS",
    help="Where agents' transcripts can be read, such as https://host/{run}/{log}; may hold {entry}, {run}, {model}, "
    "{problem}, {sample}, {log}, {log_sample}.",
)
@click.option(
    "--bundle", "bundles", multiple=True, type=click.Path(path_type=Path), help="Bundle to check and offer; several."
)
@rating_options
@click.option("--date", default="", help="Date the pages give, ISO 8601; default: that of the newest run.")
@click.option("--hf-space", is_flag=True, help="Write the card (README.md) of a Hugging Face Space.")
@store_option
@json_option
def build_command(
    out: Path,
    title: str,
    benchmarks: tuple[str, ...],
    data: tuple[str, ...],
    domains: Path | None,
    model_facts: Path | None,
    answers: str,
    answer_bytes: int,
    answers_megabytes: int,
    transcripts: str,
    bundles: tuple[Path, ...],
    imports: str,
    ties: str,
    rounds: int,
    no_rating: bool,
    date: str,
    hf_space: bool,
    store: Path | None,
    as_json: bool,
) -> None:
    """Make pages of all results in the store: a folder that opens in any browser and needs no server."""
    request = SiteRequest(
        out=out,
        title=title,
        store=store,
        benchmarks=benchmarks,
        data=tuple(_named_file(text) for text in data),
        domains=domains,
        model_facts=model_facts,
        imports=Imports(imports),
        ties=Ties(ties),
        rounds=rounds,
        rating=not no_rating,
        generated=_date(date),
        transcripts=transcripts,
        bundles=bundles,
        options=SiteOptions(
            answers=AnswerChoice(answers),
            answer_bytes=answer_bytes,
            all_answer_bytes=answers_megabytes * 1_000_000,
            hugging_face=hf_space,
        ),
    )
    report = build(request, Workspace.from_environment(os.environ))
    for note in report.notes:
        click.echo(f"bw: {visible(note)}", err=True)
    if as_json:
        print_json(report.to_plain())
    else:
        for line in _lines(report):
            click.echo(line)


def _lines(report: SiteReport) -> list[str]:
    size = f"{report.files:,} files, {report.bytes / 1e6:.1f} MB"
    lines = [
        f"Tables: {report.tables}, rows: {report.models:,}, pages of tasks: {report.tasks:,}; {size}.",
        f"Site: {report.folder}",
        f"Open {report.folder / 'index.html'} in a browser, or: bw site serve {report.folder}",
    ]
    if report.answers_left_out:
        lines.insert(1, f"Answers left out for want of room: {report.answers_left_out:,}; see --answers-megabytes.")
    return lines


def _named_file(text: str) -> tuple[str, Path]:
    name, separator, path = text.partition("=")
    if not separator or not name or not path:
        raise UsageError(f"--dataset is BENCHMARK=FILE, such as bigcodebench=rows.jsonl.gz, and {text!r} was given.")
    return name, Path(path)


def _date(text: str) -> str:
    """A date, or date and time, as pages give it: the date with hyphens comes first."""
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError as error:
        raise UsageError(f"--date is a date in ISO 8601, such as 2026-01-31, and {text!r} was given.") from error
    if found is None:
        return ""
    return found.isoformat() if found.timetz() != time() else found.date().isoformat()


@command.command("serve")
@click.argument("folder", type=click.Path(path_type=Path), default=DEFAULT)
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port; 0: any free one.")
@json_option
def serve_command(folder: Path, port: int, as_json: bool) -> None:
    """Serve a built site on this machine alone, until Ctrl-C."""

    def say(address: str) -> None:
        if as_json:
            print_json({"site": str(folder), "address": address})
        else:
            click.echo(f"{address} (Ctrl-C ends it)")

    serve(folder, port, say)
