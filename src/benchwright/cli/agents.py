"""What ``bw run`` does for repository problems: an agent in a sandbox."""

import contextlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.cli.agent_options import AgentChoices
from benchwright.cli.agent_progress import live_progress, money
from benchwright.cli.main import EXIT_STOPPED, print_json
from benchwright.cli.options import inspect_needed, key_values, workers_or_default
from benchwright.cli.storing import finish
from benchwright.core.agents import AgentLimits, NativeTools
from benchwright.core.budget import Budget
from benchwright.core.errors import StoppedError

if TYPE_CHECKING:
    from benchwright.app.agents.plan import AgentRunOptions
    from benchwright.app.agents.report import AgentRunReport
    from benchwright.app.agents.run import AgentDryRun
    from benchwright.app.repositories.selection import Selection
    from benchwright.app.runplan import CallSettings, ModelSettings
    from benchwright.app.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """What the options of ``bw run`` ask for, besides those that only agents have."""

    selection: "Selection"
    model: "ModelSettings"
    calls: "CallSettings"
    budget: Budget
    prices: Path | None
    samples: int
    limit: int | None
    temperature: float | None
    reply_tokens: int | None
    generation: Mapping[str, Any]
    workers: int | None
    preflight: bool
    out: Path | None
    dry_run: bool
    store: Path | None
    """Where a complete run is recorded; None records nothing."""
    as_json: bool


def run_agent(request: AgentRequest, choices: AgentChoices, workspace: "Workspace") -> None:
    """``bw run`` for repository problems; ends with 4 when the run stopped before its end."""
    with inspect_needed():
        from benchwright.app.agents.plan import plan_agent_run
        from benchwright.app.agents.run import dry_agent_run, run_agents
    with contextlib.redirect_stdout(sys.stderr):  # Inspect and its providers print what they like
        plan = plan_agent_run(
            _options(request, choices),
            workspace,
            fetch=not request.dry_run,
            say=lambda line: click.echo(line, err=True),
        )
    if request.dry_run:
        planned = dry_agent_run(plan)
        print_json(planned.to_plain()) if request.as_json else _show_dry_run(planned)
        return
    try:
        with contextlib.redirect_stdout(sys.stderr), live_progress() as events:
            report = run_agents(plan, workspace, events)
    except StoppedError as stopped:
        if request.as_json:
            print_json({"status": "stopped", "stopped": str(stopped), "folder": str(plan.folder), "stored": None})
        raise
    finish(plan.folder, request.store, lambda: _plain(report), lambda: _show(report), as_json=request.as_json)
    if report.stopped:
        sys.exit(EXIT_STOPPED)


def _options(request: AgentRequest, choices: AgentChoices) -> "AgentRunOptions":
    from benchwright.app.agents.plan import AgentRunOptions, ScaffoldSettings

    workers = workers_or_default(request.workers)
    settings = ScaffoldSettings(
        native_tools=NativeTools(choices.native_tools),
        command_seconds=choices.command_seconds,
        longest_command_seconds=max(choices.command_seconds, ScaffoldSettings().longest_command_seconds),
        version=choices.scaffold_version,
        program=choices.program,
        options={name: str(value) for name, value in key_values("--scaffold-option", choices.scaffold_options).items()},
    )
    limits = AgentLimits(
        uncached_tokens=choices.uncached_tokens or None,
        cached_reads=choices.cached_reads or None,
        turns=choices.sample_turns,
        wall_seconds=choices.sample_seconds,
        cost=choices.sample_cost,
    )
    return AgentRunOptions(
        selection=request.selection,
        model=request.model,
        scaffold=choices.scaffold,
        settings=settings,
        limits=limits,
        budget=request.budget,
        prices=request.prices,
        samples=request.samples,
        limit=request.limit,
        temperature=request.temperature,
        reply_tokens=request.reply_tokens,
        generation=request.generation,
        calls=request.calls,
        at_once=choices.at_once or 2 * workers,
        workers=workers,
        include_ignored=choices.include_ignored,
        preflight=request.preflight,
        exclude=choices.exclude or None,
        views=choices.views,
        out=request.out,
    )


def _show_dry_run(planned: "AgentDryRun") -> None:
    plan, options = planned.plan, planned.plan.options
    limits = options.limits
    click.echo(
        f"{plan.problems.benchmark} {plan.problems.version} ({plan.problems.subset}), model {plan.opened.name}, "
        f"scaffold {plan.scaffold.name} in {options.selection.sandbox}"
    )
    click.echo(
        f"would work on {planned.to_work_on} samples of {len(plan.selected.available)} problems; "
        f"{planned.finished} are finished already"
    )
    for line in _unavailable(plan.selected.unavailable):
        click.echo(f"not available here: {line}")
    click.echo(f"budget of each sample: {_budget(limits)}")
    from benchwright.app.agents.run import TURN_TOKENS, turns_without_a_cache

    turns = turns_without_a_cache(limits.uncached_tokens)
    if turns is not None:
        click.echo(
            f"a model without a prompt cache pays for the whole conversation in every turn: at {TURN_TOKENS:,} tokens "
            f"a turn, the cost grows with the square of the turns and this budget ends after about {turns}"
        )
    click.echo(
        "cost at most about: unknown (no price, or no limit)"
        if planned.most_cost is None
        else f"cost at most about: {money(planned.most_cost)}, if every sample used its whole budget"
    )
    for name, fact in {**plan.ready.facts, **plan.ready.forms}.items():
        click.echo(f"{name}: {fact}")
    click.echo(f"folder: {plan.folder}")


def _budget(limits: AgentLimits) -> str:
    parts = [
        f"{limit:,g} {what}" if isinstance(limit, float) else f"{limit:,} {what}"
        for limit, what in (
            (limits.uncached_tokens, "uncached tokens"),
            (limits.cached_reads, "tokens read from the cache"),
            (limits.turns, "turns"),
            (limits.wall_seconds, "seconds"),
            (limits.cost, "US dollars"),
        )
        if limit is not None
    ]
    return ", ".join(parts) or "none"


def _plain(report: "AgentRunReport") -> dict[str, object]:
    left_out = ("schema", "instances")
    plain = {key: value for key, value in report.grading.manifest.items() if key not in left_out}
    return {
        **plain,
        "agents": report.summary.to_plain(),
        "finished_now": report.now,
        "finished_before": report.before,
        "results": str(report.grading.rows_path),
        "attempts_file": str(report.attempts_path),
        "predictions": str(report.predictions_path),
        "logs": str(report.logs_path),
        "folder": str(report.folder),
    }


def _show(report: "AgentRunReport") -> None:
    from rich.markup import escape

    from benchwright.cli.agent_tables import show_agents
    from benchwright.cli.patch_tables import show_patch_grading
    from benchwright.cli.tables import console, note

    out = console()
    if report.stopped:
        missing, total = len(report.not_finished), len(report.not_finished) + len(report.attempts)
        out.print(
            f"[bold]Stopped[/bold]: {escape(report.stopped.rstrip('.'))}.  Of {total} samples {missing} are not "
            f"finished; the score below is over the others alone.  The same command goes on (with a larger cap, if "
            f"that is what it was)."
        )
    show_patch_grading(out, report.grading)
    note(out, "Not worked on, for they cannot run on this machine", _unavailable(report.plan.selected.unavailable))
    show_agents(out, report)
    out.print(f"transcripts: bw view {escape(str(report.folder))}", soft_wrap=True)


def _unavailable(why: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{problem}: {words}" for problem, words in why.items())
