"""``bw bench``."""

import dataclasses
import os
from pathlib import Path
from typing import Any

import click

from benchwright.app import catalogue
from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json
from benchwright.cli.options import (
    dataset_options,
    isolation_option,
    json_option,
    progress_bar,
    refuse_given,
    repository_options,
    run_options,
    sandbox_option,
    split_ids,
    workers_option,
    workers_or_default,
)
from benchwright.cli.patches import PATCHES_ONLY, SELECTING, check_instances, selection_of, timeout_option
from benchwright.core.errors import UsageError
from benchwright.core.execution import Isolation
from benchwright.core.prompts import Mode
from benchwright.core.repositories import RepositoryLimits

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
@click.option(
    "--prompt",
    "variant",
    default=None,
    help="Print only the prompt of this variant, as a model is sent it; for repository problems: agent.",
)
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
    if catalogue.is_repositories(benchmark):
        refuse_given(_PROMPTS, benchmark)
        if variant is not None:
            _show_agent_prompt(data, problem, variant, as_json=as_json)
        else:
            _show_repositories(data, problem, as_json=as_json)
        return
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


_PROMPTS = {"mode": "--mode", "prefill": "--prefill", "stats": "--stats"}
AGENT_PROMPT = "agent"
_ISSUE = ("id", "repo", "version", "base_commit", "created_at", "fail_to_pass")
_ISSUE_TEXTS = ("issue", "reference_patch", "test_patch")


def _show_agent_prompt(data: catalogue.Data, problem: str | None, variant: str, *, as_json: bool) -> None:
    if variant != AGENT_PROMPT:
        raise UsageError(f"Of {data.benchmark} there is one prompt, {AGENT_PROMPT}; got {variant!r}.")
    if problem is None:
        raise UsageError(
            f"A prompt is of one problem; name it: bw bench show {data.benchmark} PROBLEM --prompt {AGENT_PROMPT}."
        )
    sent = catalogue.agent_prompt(data, problem)
    if as_json:
        print_json(dataclasses.asdict(sent))
    else:
        click.echo(sent.text)


def _show_repositories(data: catalogue.Data, problem: str | None, *, as_json: bool) -> None:
    if problem is None:
        shown = catalogue.show_repositories(data)
        if as_json:
            print_json(shown)
            return
        for key, value in shown.items():
            click.echo(f"{key}: {_readable(value)}")
        return
    shown = catalogue.show_repository_problem(data, problem)
    if as_json:
        print_json(shown)
        return
    for name in _ISSUE:
        click.echo(f"{name}: {shown[name]}")
    click.echo(f"pass_to_pass: {len(shown['pass_to_pass'])} tests")
    for name in _ISSUE_TEXTS:
        click.echo(f"\n--- {name}\n{shown[name]}")


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
@repository_options
@timeout_option
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
    **selecting: Any,
) -> None:
    """Control runs on this machine, offline: each reference must pass, each empty stub must fail.

    What they measure is stored: grading takes limits from it, and lists tasks whose reference fails here.  For
    repositories the reference must resolve each instance and no patch must not; those that do not run reliably go
    to your exclusion list.
    """
    if catalogue.is_repositories(benchmark):
        refuse_given({"environment": "--env", "isolation": "--isolation"}, benchmark)
        data = catalogue.Data(benchmark=benchmark, subset=subset, version=data_version, path=dataset)
        check_instances(
            selection_of(data, ids, **selecting), repeats=repeats, again=again, workers=workers, as_json=as_json
        )
        return
    refuse_given({name: PATCHES_ONLY[name] for name in SELECTING}, benchmark)
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


@command.command("derive")
@click.option(
    "--repo", "place", type=click.Path(path_type=Path), required=True, help="Local clone that has the change."
)
@click.option("--merge", "commit", required=True, help="The merge, or the only commit of a squashed change.")
@click.option("--name", required=True, help="The repository's name, owner/name.")
@click.option("--version", "version", required=True, help="Which environment specification of it to use.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="File of rows that this one is added to.")
@click.option("--issue", type=click.Path(path_type=Path), default=None, help="File with the issue; default: message.")
@click.option("--id", "instance_id", default=None, help="Id of the instance; default: from name and number.")
@click.option("--repeats", type=int, default=3, show_default=True, help="How often the tests run on either side.")
@click.option("--specs", type=click.Path(path_type=Path), default=None, help="Folder with your specifications.")
@sandbox_option("What the tests run in.")
@timeout_option
@workers_option
@json_option
def derive_command(
    place: Path,
    commit: str,
    name: str,
    version: str,
    out: Path,
    issue: Path | None,
    instance_id: str | None,
    repeats: int,
    specs: Path | None,
    sandbox: str,
    timeout: float,
    workers: int | None,
    as_json: bool,
) -> None:
    """Make an instance of a repository problem out of a merged change of a local repository.

    The change is split into source and tests, its environment built, and the tests run before and after it; the row
    is in the official format, for `--dataset` of the benchmark `repositories`.
    """
    from benchwright.app.repositories.derive import DeriveOptions, derive

    options = DeriveOptions(
        repo=name,
        place=place,
        commit=commit,
        version=version,
        out=out,
        workers=workers_or_default(workers),
        repeats=repeats,
        issue=issue,
        instance_id=instance_id,
        sandbox=sandbox,
        specs=specs,
        limits=RepositoryLimits(wall_seconds=timeout),
    )
    with progress_bar("test runs") as update:
        derived = derive(
            options, Workspace.from_environment(os.environ), lambda text: click.echo(text, err=True), update
        )
    plain = derived.to_plain()
    if as_json:
        print_json(plain)
        return
    click.echo(
        f"{plain['instance_id']}: {len(plain['fail_to_pass'])} tests turn green, {len(plain['pass_to_pass'])} stay "
        f"green in {plain['runs']} runs; added to {plain['out']}"
    )
    for title in ("unstable", "broken"):
        if plain[title]:
            click.echo(f"{title}: {', '.join(plain[title])}")
