"""What ``bw grade``, ``bw bench check`` and ``bw env`` do for repository problems."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from benchwright.app.catalogue import Data
from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json
from benchwright.cli.options import (
    REPOSITORIES_ONLY,
    denominator_options,
    given_options,
    inspect_needed,
    progress_bar,
    split_ids,
    workers_or_default,
)
from benchwright.cli.storing import finish
from benchwright.core.errors import UsageError
from benchwright.core.repositories import RepositoryLimits, Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchwright.app.repositories.selection import Selection

F = TypeVar("F", bound="Callable[..., Any]")

SELECTING = ("sandbox", "repo_sources", "specs", "rootfs", "images", "timeout")
"""Parameters that `selection_of` takes besides the rows."""
_FIELDS = {"dataset": "data", "data_version": "version"}
PATCHES_ONLY = {
    **REPOSITORIES_ONLY,
    "rules": "--rules",
    "timeout": "--timeout",
    "controls": "--controls",
    "ignore_unknown": "--ignore-unknown",
}
"""Options that mean nothing for benchmarks of functions, by parameter name."""


def patch_options(function: F) -> F:
    """The options of ``bw grade`` that only repository problems have."""
    for option in reversed(
        (
            click.option(
                "--rules",
                type=click.Choice([rules.value for rules in Rules]),
                default=Rules.BENCHWRIGHT.value,
                show_default=True,
                help="Repository problems: official does as swebench's harness does, for comparison.",
            ),
            timeout_option,
            click.option(
                "--controls",
                type=click.Choice(["auto", "stored"]),
                default="auto",
                show_default=True,
                help="Repository problems: whether to make control runs where a patch did not resolve its issue.",
            ),
            click.option(
                "--ignore-unknown", is_flag=True, help="Repository problems: leave predictions of other instances out."
            ),
        )
    ):
        function = option(function)
    return denominator_options(function)


timeout_option = click.option(
    "--timeout",
    type=click.IntRange(min=1, max=86_400),
    default=round(RepositoryLimits().wall_seconds),
    show_default=True,
    help="Repository problems: seconds the test command may take.",
)


def selection_of(
    data: Data,
    ids: str | None,
    *,
    sandbox: str = "namespace",
    repo_sources: tuple[str, ...] = (),
    specs: Path | None = None,
    rootfs: Path | None = None,
    images: str | None = None,
    timeout: float = RepositoryLimits().wall_seconds,
) -> "Selection":
    """Which instances are meant and where they run, out of the options."""
    from benchwright.app.repositories.selection import Selection

    return Selection(
        benchmark=data.benchmark,
        subset=data.subset,
        version=data.version,
        data=data.path,
        ids=split_ids(ids),
        sandbox=sandbox,
        sources=dict(_source(text) for text in repo_sources),
        specs=specs,
        rootfs=rootfs,
        images=images,
        limits=RepositoryLimits(wall_seconds=timeout),
    )


def _source(text: str) -> tuple[str, str]:
    name, separator, place = text.partition("=")
    if not separator or not place or not (name == "*" or name.count("/") == 1):
        raise UsageError(f"--repo-source takes owner/name=place, or *=place; got {text!r}.")
    return name, place


def grade_patch_file(
    predictions: Path,
    selection: "Selection",
    *,
    out: Path | None,
    model: str | None,
    workers: int | None,
    store: Path | None,
    as_json: bool,
    rules: str,
    controls: str,
    exclude: tuple[str, ...],
    views: tuple[Path, ...],
    ignore_unknown: bool,
) -> None:
    """``bw grade`` for repository problems."""
    from benchwright.app.bundled_answers import with_patches
    from benchwright.app.repositories.grading import ControlMode, PatchGradeOptions, grade_patches

    options = PatchGradeOptions(
        selection=selection,
        predictions=predictions,
        workers=workers_or_default(workers),
        rules=Rules(rules),
        controls=ControlMode(controls),
        exclude=exclude or None,
        views=views,
        out=out,
        model=model,
        ignore_unknown=ignore_unknown,
    )
    given = {_FIELDS.get(name, name) for name in given_options()}
    with inspect_needed(), progress_bar("grading") as update, with_patches(options, given) as options:
        report = grade_patches(options, _workspace(), lambda progress: update(progress.done, progress.total))

    def plain() -> dict[str, Any]:
        fields = {key: value for key, value in report.manifest.items() if key not in ("schema", "instances")}
        return {**fields, "results": str(report.rows_path)}

    def show() -> None:
        from benchwright.cli.patch_tables import show_patch_grading
        from benchwright.cli.tables import console

        show_patch_grading(console(), report)

    finish(report.folder, store, plain, show, as_json=as_json)


def check_instances(selection: "Selection", *, repeats: int, again: bool, workers: int | None, as_json: bool) -> None:
    """``bw bench check`` for repository problems."""
    from benchwright.app.repositories.controls import RepositoryCheckOptions, check_repositories, flaw

    options = RepositoryCheckOptions(
        selection=selection, workers=workers_or_default(workers), repeats=repeats, again=again
    )
    with progress_bar("controls") as update:
        report = check_repositories(options, _workspace(), update)
    if as_json:
        print_json(report.to_plain())
        return
    sound = sum(not flaw(control) for control in report.controls)
    click.echo(
        f"{sound} of {len(report.controls)} instances run reliably in {report.sandbox}: the reference resolves them, "
        f"no patch does not; {report.executed} were run now."
    )
    for control in report.controls:
        why = flaw(control)
        if why:
            click.echo(f"{control.problem_id}: {why}")
    for problem, why in report.unavailable:
        click.echo(f"not available here: {problem}: {why}")
    if report.lost:
        click.echo(f"the sandbox kept breaking, so nothing was learnt of {', '.join(report.lost)}")
    if report.exclusions:
        click.echo(f"your exclusion list: {report.exclusions}")


def plan_instances(selection: "Selection", *, as_json: bool) -> None:
    """``bw env plan`` for repository problems."""
    from benchwright.app.repositories.environments import MIB, plan_repositories

    planned = plan_repositories(selection, _workspace())
    if as_json:
        print_json(planned.to_plain())
        return
    from benchwright.cli.tables import console, simple_table

    rows = [
        (
            f"{item.repo} {item.version}",
            item.python,
            item.interpreter or item.problem,
            f"{len(item.built)} of {len(item.instances)}",
            f"{item.cost.bytes / MIB:.0f}",
            f"{item.cost.seconds / 60:.0f}",
        )
        for item in planned.plan.environments
    ]
    columns = ("environment", "Python", "interpreter", "built", "MiB", "minutes")
    console().print(simple_table("Environments, and what building the rest would take", columns, rows))
    plan, cost = planned.plan, planned.plan.cost
    click.echo(
        f"{len(plan.environments)} environments, {plan.instances} instances: {plan.built} built, {plan.unavailable} "
        f"not to be had here; building the rest takes about {cost.bytes / MIB / 1024:.1f} GiB and "
        f"{cost.seconds / 3600:.1f} hours; free: {planned.free_bytes / MIB / 1024:.1f} GiB"
    )
    if plan.problem:
        click.echo(f"obstacle: {plan.problem}")


def build_instances(selection: "Selection", *, size_cap: int | None, as_json: bool) -> None:
    """``bw env build`` for repository problems; ends with 3 when an instance failed."""
    from benchwright.app.repositories.environments import build_repositories

    report = build_repositories(
        selection, _workspace(), report=lambda text: click.echo(text, err=True), size_cap=size_cap
    )
    counts: dict[str, int] = {}
    for outcome in report.outcomes:
        counts[outcome.built.value] = counts.get(outcome.built.value, 0) + 1
    if as_json:
        outcomes = [
            {
                "problem_id": outcome.problem_id,
                "outcome": outcome.built.value,
                "message": outcome.message,
                "bytes": outcome.bytes,
                "wall_seconds": round(outcome.wall_seconds, 3),
            }
            for outcome in report.outcomes
        ]
        print_json({"outcomes": outcomes, "counts": counts, "bytes": report.bytes})
    else:
        for outcome in report.outcomes:
            if outcome.message:
                click.echo(f"{outcome.problem_id}: {outcome.built.value}: {outcome.message}")
        said = ", ".join(f"{n} {what}" for what, n in counts.items())
        click.echo(f"{said}; all environments take {report.bytes / 2**20:.0f} MiB")
    if report.failures:
        raise SystemExit(3)


def check_layers(name: str, selection: "Selection", *, as_json: bool) -> None:
    """``bw env check`` for repository problems; ends with 3 when a layer is not what was built."""
    from benchwright.app.repositories.environments import broken_layers

    broken = broken_layers(selection, _workspace())
    if as_json:
        print_json({"name": name, "sound": not broken, "broken": broken})
    else:
        for layer in broken:
            click.echo(f"{layer} is not what was built")
        click.echo(f"{name} is {'broken; remove these layers and build them again' if broken else 'sound'}.")
    if broken:
        raise SystemExit(3)


def _workspace() -> Workspace:
    return Workspace.from_environment(os.environ)
