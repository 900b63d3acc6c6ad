"""``bw run``."""

import contextlib
import math
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.app import catalogue
from benchwright.app.grading import DEFAULT_FLOOR_SECONDS
from benchwright.app.workspace import Workspace
from benchwright.cli.agent_options import AGENTS_ONLY, AgentChoices, agent_options
from benchwright.cli.agent_progress import money as _money
from benchwright.cli.agents import AgentRequest, run_agent
from benchwright.cli.grade import to_plain
from benchwright.cli.main import EXIT_STOPPED, print_json
from benchwright.cli.options import (
    dataset_options,
    inspect_needed,
    isolation_option,
    json_option,
    key_values,
    progress_bar,
    refuse_given,
    run_options,
    split_ids,
    workers_option,
    workers_or_default,
)
from benchwright.cli.patches import SELECTING, selection_of
from benchwright.cli.storing import finish, recording_options, store_to_record_in
from benchwright.core.attempts import Ending
from benchwright.core.budget import Budget
from benchwright.core.errors import StoppedError, UsageError
from benchwright.core.execution import Isolation
from benchwright.core.prompts import Mode

if TYPE_CHECKING:
    from benchwright.app.preflight import Preflight
    from benchwright.app.run import Forecast, RunReport

_SHOWN_LINES = 40
_FUNCTIONS_ONLY = {
    "variant": "--variant",
    "environment": "--env",
    "prefill": "--prefill",
    "official_limits": "--official-limits",
    "floor_seconds": "--floor-seconds",
    "isolation": "--isolation",
}
"""Options that mean nothing for repository problems, by parameter name."""


@click.command("run")
@click.argument("benchmark")
@click.option("--model", required=True, help="Model in Inspect's form: provider/name.")
@click.option("--variant", default=None, help="Prompt variant: complete or instruct.")
@dataset_options
@run_options
@click.option("--limit", type=click.IntRange(min=1), default=None, help="Only the first so many problems.")
@click.option(
    "--samples",
    "--epochs",
    "samples",
    type=click.IntRange(1, 10_000),
    default=1,
    show_default=True,
    help="How often every problem is asked; more than once needs a temperature, except for agents.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0, 100),
    default=None,
    help="0 is greedy; default: 0 for function problems, the provider's own for agents.",
)
@click.option("--reply-tokens", type=click.IntRange(min=1), default=None, help="Most tokens of one reply.")
@click.option(
    "--mode",
    type=click.Choice(["auto", *(mode.value for mode in Mode)]),
    default="auto",
    show_default=True,
    help="Speak to a chat model, or let a base model continue the prompt; auto decides by the model.",
)
@click.option("--prefill", is_flag=True, help="Begin the answer on the model's behalf, up to an opened code block.")
@click.option(
    "--preflight/--no-preflight",
    default=True,
    show_default=True,
    help="Try the model out first: on three problems; for agents, whether it calls tools.",
)
@click.option("--max-tokens", type=click.IntRange(min=1), default=None, help="Most tokens of the whole run.")
@click.option(
    "--max-cost", type=click.FloatRange(min=0, min_open=True), default=None, help="Most US dollars of the whole run."
)
@click.option("--prices", type=click.Path(path_type=Path), default=None, help="A price table of your own (TOML).")
@click.option("--max-connections", type=click.IntRange(min=1), default=10, show_default=True, help="Calls at once.")
@click.option("--max-retries", type=click.IntRange(min=0), default=6, show_default=True, help="Repeats of a call.")
@click.option("--timeout", type=click.IntRange(min=1), default=600, show_default=True, help="Seconds for one call.")
@click.option("--model-base-url", default=None, help="Where the provider's server is.")
@click.option("--model-arg", "-M", "model_args", multiple=True, help="name=value for the provider; may be repeated.")
@click.option(
    "--generate",
    "-G",
    "generation",
    multiple=True,
    help="name=value of Inspect's GenerateConfig, such as top_p=0.95, seed=1 or reasoning_effort=high.",
)
@click.option("--official-limits", is_flag=True, help="240 s for every sample, as the official harness allows.")
@click.option(
    "--floor-seconds",
    type=click.FloatRange(min=1),
    default=DEFAULT_FLOOR_SECONDS,
    show_default=True,
    help="Smallest CPU limit of a problem; the limit is six times what its reference took here.",
)
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder of the run.")
@click.option("--dry-run", is_flag=True, help="Say what would be asked and graded; ask nothing.")
@agent_options
@workers_option
@isolation_option
@recording_options
@json_option
def command(
    benchmark: str,
    model: str,
    variant: str | None,
    subset: str | None,
    dataset: Path | None,
    data_version: str | None,
    environment: str | None,
    ids: str | None,
    limit: int | None,
    samples: int,
    temperature: float | None,
    reply_tokens: int | None,
    mode: str,
    prefill: bool,
    preflight: bool,
    max_tokens: int | None,
    max_cost: float | None,
    prices: Path | None,
    max_connections: int,
    max_retries: int,
    timeout: int,
    model_base_url: str | None,
    model_args: tuple[str, ...],
    generation: tuple[str, ...],
    official_limits: bool,
    floor_seconds: float,
    out: Path | None,
    dry_run: bool,
    workers: int | None,
    isolation: str,
    store: Path | None,
    no_store: bool,
    as_json: bool,
    **for_agents: Any,
) -> None:
    """Ask a model the problems of a BENCHMARK and grade its answers while they come.

    For problems of repositories the model acts in a sandbox, and what it leaves is graded.  Ends with the table, rows
    and files of `bw grade`, and with transcripts for `bw view`.  Stopped by Ctrl-C, a crash or a budget, it goes on
    where it was when the same command is given again: nothing that is finished is asked twice.
    """
    with inspect_needed():
        from benchwright.app import run as runs
        from benchwright.app.runplan import CallSettings, ModelSettings, RunOptions, plan_run
    workspace = Workspace.from_environment(os.environ)
    root = None if dry_run else store_to_record_in(workspace, store, no_store=no_store)
    if temperature is not None and not math.isfinite(temperature):
        raise UsageError(f"A temperature is a number from 0 to 100, but {temperature} was given.")
    settings = ModelSettings(
        name=model,
        base_url=model_base_url,
        args=key_values("--model-arg", model_args),
        mode=None if mode == "auto" else Mode(mode),
    )
    calls = CallSettings(max_connections=max_connections, max_retries=max_retries, timeout=timeout)
    budget = Budget(max_tokens=max_tokens, max_cost=max_cost)
    if catalogue.is_repositories(benchmark):
        refuse_given(_FUNCTIONS_ONLY, benchmark)
        data = catalogue.Data(benchmark=benchmark, subset=subset, version=data_version, path=dataset)
        selecting = {name: for_agents.pop(name) for name in SELECTING if name in for_agents}
        request = AgentRequest(
            selection=selection_of(data, ids, timeout=for_agents.pop("test_timeout"), **selecting),
            model=settings,
            calls=calls,
            budget=budget,
            prices=prices,
            samples=samples,
            limit=limit,
            temperature=temperature,
            reply_tokens=reply_tokens,
            generation=key_values("--generate", generation),
            workers=workers,
            preflight=preflight,
            out=out,
            dry_run=dry_run,
            store=root,
            as_json=as_json,
        )
        run_agent(request, AgentChoices(**for_agents), workspace)
        return
    refuse_given(AGENTS_ONLY, benchmark)
    options = RunOptions(
        benchmark=benchmark,
        model=settings,
        workers=workers_or_default(workers),
        variant=variant,
        subset=subset,
        version=data_version,
        data=dataset,
        ids=split_ids(ids),
        limit=limit,
        samples=samples,
        temperature=temperature or 0.0,
        reply_tokens=reply_tokens,
        generation=key_values("--generate", generation),
        prefill=prefill,
        preflight=preflight,
        budget=budget,
        prices=prices,
        calls=calls,
        environment=environment,
        official_limits=official_limits,
        floor_seconds=floor_seconds,
        isolation=Isolation(isolation),
        out=out,
    )
    # Inspect and its providers print what they like; standard output is for the result.
    with contextlib.redirect_stdout(sys.stderr):
        plan = plan_run(options, workspace)
    if dry_run:
        planned = runs.dry_run(plan).to_plain()
        print_json(planned) if as_json else _show_dry_run(planned)
        return
    try:
        with contextlib.redirect_stdout(sys.stderr), progress_bar("graded") as update:
            report = runs.run(plan, workspace, _Events(update))
    except StoppedError as stopped:
        if as_json:
            print_json({"status": "stopped", "stopped": str(stopped), "folder": str(plan.folder), "stored": None})
        raise
    finish(plan.folder, root, lambda: _plain(report), lambda: _show(report), as_json=as_json)
    if report.stopped:
        sys.exit(EXIT_STOPPED)


class _Events:
    """Tells the terminal how a run goes on; everything goes to standard error."""

    def __init__(self, update: Callable[[int, int], None]) -> None:
        self._update = update

    def say(self, text: str) -> None:
        """One line."""
        click.echo(text, err=True)

    def preflight(self, preflight: "Preflight", forecast: "Forecast") -> None:
        """The first answers, and the forecast."""
        for sample in preflight.samples:
            if sample.attempt.ending is Ending.FAILED:
                self.say(f"--- {sample.problem_id}: no reply: {_clipped(sample.attempt.ending_detail)}")
                continue
            for title, text in (
                (f"{sample.problem_id}: prompt", sample.prompt),
                ("answer as written", sample.attempt.raw_text or sample.attempt.ending_detail),
                (f"graded ({sample.strategy})", sample.code or ""),
            ):
                self.say(f"--- {title}\n{_clipped(text)}")
        self.say(f"--- {preflight.readable} of {len(preflight.samples)} answers can be graded")
        if preflight.objection is None:
            self.say(f"Forecast for {forecast.replies} more replies: {_forecast(forecast)}.")

    def progress(self, done: int, total: int) -> None:
        """Samples graded."""
        self._update(done, total)


def _clipped(text: str) -> str:
    # What a model wrote goes to a terminal: control characters could steer it.
    shown = "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text.replace("\r\n", "\n"))
    lines = shown.rstrip().splitlines()
    if len(lines) <= _SHOWN_LINES:
        return "\n".join(lines)
    half = _SHOWN_LINES // 2
    return "\n".join([*lines[:half], f"    … {len(lines) - 2 * half} lines left out …", *lines[-half:]])


def _forecast(forecast: "Forecast") -> str:
    tokens = "tokens unknown (the provider reports none)" if forecast.tokens is None else f"{forecast.tokens:,} tokens"
    return f"{tokens}, {_money(forecast.cost)}"


def _show_dry_run(planned: Mapping[str, Any]) -> None:
    click.echo(
        f"{planned['benchmark']} {planned['version']} ({planned['subset']}, {planned['variant']}), model "
        f"{planned['model']} in {planned['mode']} mode ({planned['mode_reason']})"
    )
    click.echo(
        f"would ask {planned['to_ask']} samples ({planned['prompt_characters']:,} characters of prompts); "
        f"{planned['already_answered']} are answered already"
    )
    click.echo(f"would grade {planned['to_grade']} (sample, score) pairs in environment {planned['environment']}")
    price = planned["price"]
    click.echo(
        "price unknown: cost would be reported as unknown"
        if price is None
        else f"price per million tokens: ${price['input']:g} in, ${price['output']:g} out (as of {price['as_of']})"
    )
    click.echo(f"folder: {planned['folder']}")


def _plain(report: "RunReport") -> dict[str, Any]:
    return {
        **to_plain(report.grading),
        "asked": report.asked,
        "answered_before": report.answered_before,
        "samples_file": str(report.samples_path),
        "log": str(report.log),
        "folder": str(report.plan.folder),
    }


def _show(report: "RunReport") -> None:
    from rich.markup import escape

    from benchwright.cli.tables import console, show_grading

    out = console()
    show_grading(out, report.grading)
    opened = report.plan.opened
    out.print(f"mode: {opened.mode.value} ({escape(opened.mode_reason)})")
    out.print(f"transcripts: bw view {escape(str(report.plan.folder))}", soft_wrap=True)
    ledger = report.ledger
    out.print(
        f"{report.asked} replies now, {report.answered_before} before; {ledger.calls} calls, {ledger.failures} failed; "
        f"{ledger.spent.total:,} tokens; {_money(ledger.cost)}"
    )
    if ledger.estimated.total:
        out.print(
            f"Calls without a report of their usage have taken an estimated {ledger.estimated.total:,} tokens more"
            f" ({_money(ledger.estimated_cost)})."
        )
    if "base_model_on_instruct" in report.plan.flags:
        out.print("[bold]A base model on a variant for instruction-tuned models[/bold]: flagged, and never ranked.")
    if report.stopped:
        out.print(
            f"[bold]Stopped[/bold]: {escape(report.stopped.rstrip('.'))}.  {len(report.not_asked)} samples were not "
            f"asked; the score is over the others alone.  The same command goes on (with a larger budget, if that is "
            f"what it was)."
        )
