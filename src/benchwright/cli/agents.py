"""What ``bw run`` does for repository problems: an agent in a sandbox."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benchwright.cli.main import EXIT_STOPPED, print_json
from benchwright.cli.options import inspect_needed, repository_options, workers_or_default
from benchwright.core.agents import CACHED_READS, UNCACHED_TOKENS, AgentLimits, NativeTools
from benchwright.core.budget import Budget
from benchwright.core.errors import StoppedError

if TYPE_CHECKING:
    from benchwright.app.agents.harness import AgentProgress
    from benchwright.app.agents.report import AgentRunReport
    from benchwright.app.agents.run import AgentDryRun
    from benchwright.app.repositories.selection import Selection
    from benchwright.app.runplan import CallSettings, ModelSettings
    from benchwright.app.workspace import Workspace

F = TypeVar("F", bound="Callable[..., Any]")

_LINE_SECONDS = 30.0

AGENTS_ONLY = {
    "sandbox": "--sandbox",
    "repo_sources": "--repo-source",
    "specs": "--specs",
    "rootfs": "--rootfs",
    "images": "--images",
    "scaffold": "--scaffold",
    "scaffold_version": "--scaffold-version",
    "program": "--program",
    "native_tools": "--native-tools",
    "uncached_tokens": "--sample-tokens",
    "cached_reads": "--sample-cached-tokens",
    "sample_turns": "--sample-turns",
    "sample_seconds": "--sample-seconds",
    "sample_cost": "--sample-cost",
    "command_seconds": "--command-seconds",
    "at_once": "--at-once",
    "include_ignored": "--include-ignored",
    "test_timeout": "--test-timeout",
    "exclude": "--exclude",
    "views": "--view",
}
"""Options that mean nothing for benchmarks of functions, by parameter name."""


def agent_options(function: F) -> F:
    """The options of ``bw run`` that only repository problems have."""
    for option in reversed(
        (
            click.option(
                "--scaffold",
                default="loop",
                show_default=True,
                help="Repository problems: loop, bash-only, claude-code, codex, mini-swe-agent, or one installed.",
            ),
            click.option("--scaffold-version", default=None, help="Repository problems: of the scaffold's program."),
            click.option(
                "--program",
                type=click.Path(path_type=Path),
                default=None,
                help="Repository problems: the scaffold's program, or the folder it is in.",
            ),
            click.option(
                "--native-tools",
                type=click.Choice([mode.value for mode in NativeTools]),
                default=NativeTools.AUTO.value,
                show_default=True,
                help="Repository problems: whether tools are offered in a form of the provider's own.",
            ),
            click.option(
                "--sample-tokens",
                "uncached_tokens",
                type=click.IntRange(min=0),
                default=UNCACHED_TOKENS,
                show_default=True,
                help="Repository problems: uncached tokens (input, cache writes, output) of one sample; 0: no limit.",
            ),
            click.option(
                "--sample-cached-tokens",
                "cached_reads",
                type=click.IntRange(min=0),
                default=CACHED_READS,
                show_default=True,
                help="Repository problems: tokens of one sample that are read from a cache; 0: no limit.",
            ),
            click.option(
                "--sample-turns", type=click.IntRange(min=1), default=None, help="Repository problems: most turns."
            ),
            click.option(
                "--sample-seconds",
                type=click.FloatRange(min=0, min_open=True),
                default=None,
                help="Repository problems: most seconds of one sample.",
            ),
            click.option(
                "--sample-cost",
                type=click.FloatRange(min=0, min_open=True),
                default=None,
                help="Repository problems: most US dollars of one sample.",
            ),
            click.option(
                "--command-seconds",
                type=click.IntRange(min=1, max=86_400),
                default=180,
                show_default=True,
                help="Repository problems: time limit of an agent's command that asks for none.",
            ),
            click.option(
                "--at-once",
                type=click.IntRange(min=1),
                default=None,
                help="Repository problems: samples worked on side by side; default: two for each core.",
            ),
            click.option(
                "--include-ignored",
                is_flag=True,
                help="Repository problems: take new files that git ignores into the submission.",
            ),
            click.option(
                "--test-timeout",
                type=click.IntRange(min=1, max=86_400),
                default=1800,
                show_default=True,
                help="Repository problems: seconds the graded tests may take.",
            ),
            click.option(
                "--exclude",
                multiple=True,
                metavar="LIST",
                help="Repository problems: exclusion list by name or file, or none; default: all that are known.",
            ),
            click.option(
                "--view",
                "views",
                multiple=True,
                type=click.Path(path_type=Path),
                help="Repository problems: file of ids to report as a further denominator.",
            ),
        )
    ):
        function = option(function)
    return repository_options(function)


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
    as_json: bool


def run_agent(
    request: AgentRequest,
    workspace: "Workspace",
    *,
    scaffold: str,
    scaffold_version: str | None,
    program: Path | None,
    native_tools: str,
    uncached_tokens: int,
    cached_reads: int,
    sample_turns: int | None,
    sample_seconds: float | None,
    sample_cost: float | None,
    command_seconds: int,
    at_once: int | None,
    include_ignored: bool,
    exclude: tuple[str, ...],
    views: tuple[Path, ...],
) -> None:
    """``bw run`` for repository problems; ends with 4 when the run stopped before its end."""
    with inspect_needed():
        from benchwright.app.agents.plan import AgentRunOptions, ScaffoldSettings, plan_agent_run
        from benchwright.app.agents.run import dry_agent_run, run_agents
    workers = workers_or_default(request.workers)
    options = AgentRunOptions(
        selection=request.selection,
        model=request.model,
        scaffold=scaffold,
        settings=ScaffoldSettings(
            native_tools=NativeTools(native_tools),
            command_seconds=command_seconds,
            longest_command_seconds=max(command_seconds, ScaffoldSettings().longest_command_seconds),
            version=scaffold_version,
            program=program,
        ),
        limits=AgentLimits(
            uncached_tokens=uncached_tokens or None,
            cached_reads=cached_reads or None,
            turns=sample_turns,
            wall_seconds=sample_seconds,
            cost=sample_cost,
        ),
        budget=request.budget,
        prices=request.prices,
        samples=request.samples,
        limit=request.limit,
        temperature=request.temperature,
        reply_tokens=request.reply_tokens,
        generation=request.generation,
        calls=request.calls,
        at_once=at_once or 2 * workers,
        workers=workers,
        include_ignored=include_ignored,
        preflight=request.preflight,
        exclude=exclude or None,
        views=views,
        out=request.out,
    )
    with contextlib.redirect_stdout(sys.stderr):  # Inspect and its providers print what they like
        plan = plan_agent_run(options, workspace)
    if request.dry_run:
        planned = dry_agent_run(plan)
        print_json(planned.to_plain()) if request.as_json else _show_dry_run(planned)
        return
    try:
        with contextlib.redirect_stdout(sys.stderr), _live_progress() as events:
            report = run_agents(plan, workspace, events)
    except StoppedError as stopped:
        if request.as_json:
            print_json({"status": "stopped", "stopped": str(stopped), "folder": str(plan.folder)})
        raise
    print_json(_plain(report)) if request.as_json else _show(report)
    if report.stopped:
        sys.exit(EXIT_STOPPED)


class _Events:
    """Tells the terminal how a run goes on; everything goes to standard error."""

    def __init__(self, show: "Callable[[AgentProgress], None]") -> None:
        self._show = show

    def say(self, text: str) -> None:
        """One line."""
        click.echo(text, err=True)

    def progress(self, progress: "AgentProgress") -> None:
        """How far the run is."""
        self._show(progress)


@contextlib.contextmanager
def _live_progress() -> Iterator[_Events]:
    """One line that is kept up to date; a line every half minute where that is no terminal."""
    if not sys.stderr.isatty():
        said = time.monotonic()

        def say(progress: "AgentProgress") -> None:
            nonlocal said
            if time.monotonic() - said >= _LINE_SECONDS:
                said = time.monotonic()
                click.echo(progress_line(progress), err=True)

        yield _Events(say)
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(Text("starting"), console=Console(stderr=True), transient=True, refresh_per_second=4) as shown:
        yield _Events(lambda progress: shown.update(Text(progress_line(progress))))


def progress_line(progress: "AgentProgress") -> str:
    """How far a run is, in one line."""
    left = "" if progress.seconds_left is None else f", about {_duration(progress.seconds_left)} left"
    return (
        f"{progress.finished} of {progress.total} finished, {progress.running} running, {progress.queued} queued; "
        f"{progress.resolved} of {progress.graded} graded resolved, {progress.faults} faults; "
        f"{progress.tokens:,} tokens, {money(progress.cost)}{left}"
    )


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{max(1, minutes)} min"


def money(cost: float | None) -> str:
    """US dollars for a person."""
    return "cost unknown" if cost is None else f"${cost:,.4f}" if cost < 1 else f"${cost:,.2f}"


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
    for problem, why in plan.selected.unavailable.items():
        click.echo(f"not available here: {problem}: {why}")
    uncached = "no limit" if limits.uncached_tokens is None else f"{limits.uncached_tokens:,}"
    reads = "no limit" if limits.cached_reads is None else f"{limits.cached_reads:,}"
    click.echo(f"budget of each sample: {uncached} uncached tokens, {reads} read from the cache")
    from benchwright.app.agents.run import TURN_TOKENS, turns_without_a_cache

    turns = turns_without_a_cache(limits.uncached_tokens)
    if turns is not None:
        click.echo(
            f"a model without a prompt cache pays for the whole conversation in every turn: at {TURN_TOKENS:,} tokens "
            f"a turn, the cost grows with the square of the turns and this budget ends after about {turns}"
        )
    click.echo(
        "cost at most: unknown (no price, or no limit)"
        if planned.most_cost is None
        else f"cost at most: {money(planned.most_cost)}, if every sample used its whole budget"
    )
    for name, fact in {**plan.ready.facts, **plan.ready.forms}.items():
        click.echo(f"{name}: {fact}")
    click.echo(f"folder: {plan.folder}")


def _plain(report: "AgentRunReport") -> dict[str, object]:
    left_out = ("schema", "instances")
    plain = {key: value for key, value in report.grading.manifest.items() if key not in left_out}
    return {
        **plain,
        "agents": report.summary.to_plain(),
        "finished_now": report.now,
        "finished_before": report.before,
        "results": str(report.folder / "rows.jsonl"),
        "attempts_file": str(report.folder / "attempts.jsonl"),
        "predictions": str(report.folder / "predictions.jsonl"),
        "logs": str(report.folder / "logs"),
        "folder": str(report.folder),
    }


def _show(report: "AgentRunReport") -> None:
    from rich.markup import escape

    from benchwright.cli.agent_tables import show_agents
    from benchwright.cli.patch_tables import show_patch_grading
    from benchwright.cli.tables import console

    out = console()
    show_patch_grading(out, report.grading)
    show_agents(out, report)
    out.print(f"transcripts: bw view {escape(str(report.folder))}", soft_wrap=True)
    if report.stopped:
        out.print(
            f"[bold]Stopped[/bold]: {escape(report.stopped.rstrip('.'))}.  {len(report.not_finished)} samples were not "
            f"finished; the score is over the others alone.  The same command goes on (with a larger budget, if that "
            f"is what it was)."
        )
