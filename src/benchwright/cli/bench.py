"""``bw bench``."""

import dataclasses
import os
from pathlib import Path

import click

from benchwright.app import catalogue
from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json
from benchwright.cli.options import (
    dataset_options,
    isolation_option,
    json_option,
    progress_bar,
    run_options,
    split_ids,
    workers_option,
    workers_or_default,
)
from benchwright.core.execution import Isolation
from benchwright.core.prompts import Mode

_SHOWN_ENTRIES = 12
"""Of a table such as tasks by library, a terminal shows the most frequent ones; --json has all."""


@click.group("bench")
def command() -> None:
    """List, show and check benchmarks."""


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the benchmarks that are known here."""
    entries = catalogue.benchmarks()
    if as_json:
        print_json({"benchmarks": [dataclasses.asdict(entry) for entry in entries]})
        return
    for entry in entries:
        click.echo(
            f"{entry.name:16} {entry.title}; subsets {', '.join(entry.subsets)}; variants {', '.join(entry.variants)}; "
            f"environments {', '.join(entry.environments)}; {entry.licence}"
        )


@command.command("show")
@click.argument("benchmark")
@click.argument("problem", required=False)
@click.option("--prompt", "variant", default=None, help="Print only the prompt of this variant, as a model is sent it.")
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.CHAT.value,
    show_default=True,
    help="With --prompt: for a chat model, or for a base model.",
)
@click.option("--prefill", is_flag=True, help="With --prompt: with the answer begun on the model's behalf.")
@click.option("--stats", is_flag=True, help="Count tasks, libraries and tests in the data.")
@dataset_options
@json_option
def show_command(
    benchmark: str,
    problem: str | None,
    variant: str | None,
    mode: str,
    prefill: bool,
    stats: bool,
    subset: str | None,
    dataset: Path | None,
    data_version: str | None,
    as_json: bool,
) -> None:
    """Show a BENCHMARK, or one PROBLEM of it: prompts, reference and tests."""
    data = catalogue.Data(benchmark=benchmark, subset=subset, version=data_version, path=dataset)
    if problem is not None and variant is not None:
        sent = catalogue.prompt(data, problem, variant, mode=Mode(mode), prefill=prefill)
        if as_json:
            print_json(dataclasses.asdict(sent))
        else:
            click.echo(sent.text)
            if sent.prefill:
                click.echo(f"--- the answer begins with\n{sent.prefill}")
        return
    if problem is not None:
        shown = catalogue.show_problem(data, problem)
        if as_json:
            print_json(shown)
        else:
            for name in ("id", "entry_point", "libraries", "tests"):
                click.echo(f"{name}: {shown[name]}")
            for name in ("prompts", "reference", "test_source"):
                text = shown[name]
                parts = text.items() if isinstance(text, dict) else [("", text)]
                for label, part in parts:
                    click.echo(f"\n--- {name} {label}".rstrip() + f"\n{part}")
        return
    shown = catalogue.show_benchmark(data, with_statistics=stats)
    if as_json:
        print_json(shown)
        return
    for key, value in shown.items():
        click.echo(f"{key}: {_readable(value)}")


def _readable(value: object) -> str:
    if isinstance(value, dict):
        top = list(value.items())[:_SHOWN_ENTRIES]
        return ", ".join(f"{k} {v:.0f}" if isinstance(v, float) else f"{k} {v}" for k, v in top)
    return f"{value:.2f}" if isinstance(value, float) else str(value)


@command.command("check")
@click.argument("benchmark")
@dataset_options
@run_options
@click.option("--repeats", type=int, default=1, show_default=True, help="How often each control is run.")
@click.option("--again", is_flag=True, help="Run controls again that are stored already.")
@workers_option
@isolation_option
@json_option
def check_command(
    benchmark: str,
    subset: str | None,
    dataset: Path | None,
    data_version: str | None,
    environment: str | None,
    ids: str | None,
    repeats: int,
    again: bool,
    workers: int | None,
    isolation: str,
    as_json: bool,
) -> None:
    """Control runs on this machine, offline: each reference must pass, each empty stub must fail.

    What they measure is stored: grading takes limits from it, and lists tasks whose reference fails here.
    """
    from benchwright.app.controls import CheckOptions, check_benchmark

    options = CheckOptions(
        benchmark=benchmark,
        workers=workers_or_default(workers),
        subset=subset,
        version=data_version,
        data=dataset,
        environment=environment,
        ids=split_ids(ids),
        repeats=repeats,
        again=again,
        isolation=Isolation(isolation),
    )
    with progress_bar("controls") as update:
        report = check_benchmark(options, Workspace.from_environment(os.environ), update)
    plain = report.to_plain()
    if as_json:
        print_json(plain)
        return
    click.echo(
        f"{plain['reference_passes']} of {plain['problems']} references pass in {report.environment}; "
        f"{plain['executed']} problems were run now."
    )
    for title, items in (
        ("reference fails", plain["failed_references"]),
        ("not available here", plain["unavailable"]),
    ):
        for item in items:
            network = " (needs the network)" if item["needs_network"] else ""
            click.echo(f"{title}: {item['problem_id']}{network}: {item['reason']}: {item['detail']}")
    for title, names in (("stub passes", plain["passing_stubs"]), ("flaky", plain["flaky"])):
        if names:
            click.echo(f"{title}: {', '.join(names)}")
