"""``bw compare``."""

import os
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from benchwright.app.compare import Comparison, Side
from benchwright.app.compare_many import Against, Cluster, Comparisons, compare_runs, p_text
from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json, visible
from benchwright.cli.options import json_option
from benchwright.cli.ranking_tables import short
from benchwright.cli.storing import store_option
from benchwright.cli.tables import console, points
from benchwright.core.runs import Score

_LISTED = 8


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="A B [C…]")
@click.option(
    "--score",
    type=click.Choice([score.value for score in Score]),
    default=None,
    help="Score to compare; default: calibrated if both have it, otherwise the last that both have.",
)
@click.option(
    "--against",
    type=click.Choice([one.value for one in Against]),
    default=Against.ALL.value,
    show_default=True,
    help="Of more than two runs: compare every pair, or the first one with each of the others.",
)
@click.option(
    "--cluster",
    type=click.Choice([one.value for one in Cluster]),
    default=None,
    help="Resample the problems of a repository together, for they may resemble each other.",
)
@click.option(
    "--force", is_flag=True, help="Compare results of agents even if their evaluations are not comparable, and say so."
)
@store_option
@json_option
def command(
    runs: tuple[str, ...],
    score: str | None,
    against: str,
    cluster: str | None,
    force: bool,
    store: Path | None,
    as_json: bool,
) -> None:
    """Say whether the model graded in A is better than that in B, problem by problem.

    A and B are folders that `bw grade` or `bw run` wrote, entries of the store, or models, of the same problems.
    Nothing is executed.  Of more than two, pairs are compared and their p-values adjusted for their number (Holm).
    """
    report = compare_runs(
        runs,
        Workspace.from_environment(os.environ),
        score=None if score is None else Score(score),
        force=force,
        cluster=None if cluster is None else Cluster(cluster),
        against=Against(against),
        store=store,
    )
    if as_json:
        print_json(report.to_plain())
        return
    if len(report.comparisons) > 1:
        show_many(report)
        return
    for line in lines(report.comparisons[0]):
        click.echo(visible(line))


def show_many(report: Comparisons) -> None:
    """Several comparisons for people: a table, and what it shows."""
    out = console()
    table = Table(title=f"{report.comparisons[0].benchmark}, score {report.comparisons[0].score.value}")
    for name in ("A", "B"):
        table.add_column(name, overflow="fold")
    for name in ("A minus B, points", "p", "Holm's p", "n", "shown"):
        table.add_column(name, justify="right")
    for number, (pair, one) in enumerate(zip(report.pairs, report.comparisons, strict=True)):
        found = one.paired
        table.add_row(
            *(escape(short(report.names[place])) for place in pair),
            f"{points(found.difference)} \\[{points(found.low)}, {points(found.high)}]",
            p_text(one.p_value),
            "–" if one.adjusted_p is None else p_text(one.adjusted_p),
            str(found.n),
            "yes" if number in report.shown else "no",
        )
    out.print(table)
    for line in _summary(report):
        out.print(escape(line), soft_wrap=True)


def _summary(report: Comparisons) -> list[str]:
    count = len(report.comparisons)
    said = [
        f"{len(report.shown)} of {count} comparisons show a difference, with p-values adjusted for {count} (Holm).",
        f"p: {_test(report.comparisons[0])}; interval: {_interval(report.comparisons[0])}.",
    ]
    uneven = len({one.paired.n for one in report.comparisons}) > 1
    left_out = sum(len(one.a.not_in_other) + len(one.b.not_in_other) for one in report.comparisons)
    if uneven or left_out:
        said.append("The runs have different problems: every pair is compared on those that both have (column n).")
    said += [
        f"Not comparable, forced: {report.names[a]} and {report.names[b]}: {reason}"
        for (a, b), one in zip(report.pairs, report.comparisons, strict=True)
        for reason in one.incomparable
    ]
    return said


def _test(report: Comparison) -> str:
    if report.paired.clusters is not None:
        return f"permutation of {report.paired.clusters} repositories"
    if report.greedy:
        return "exact McNemar test over the problems that one alone solves"
    return "sign test over the problems on which one is ahead"


def _interval(report: Comparison) -> str:
    if report.paired.clusters is not None:
        return "bootstrap over repositories"
    return (
        "Bonett and Price's for paired shares" if report.paired.method == "bonett-price" else "bootstrap over problems"
    )


def lines(report: Comparison) -> list[str]:
    """The comparison for people."""
    found = report.paired
    said = [f"{report.benchmark} {report.version}, score {report.score.value}, {found.n} problems that both have"]
    for name, side in (("A", report.a), ("B", report.b)):
        samples = "one sample each" if side.samples == 1 else f"up to {side.samples} samples each"
        facts = [f"{name}: {short(side.model, 80)} ({side.variant}), {100 * side.mean:.1f} %, {samples}"]
        facts += [f"flagged {', '.join(side.flags)}"] if side.flags else []
        facts += ["never ranked"] if side.never_ranked else []
        facts += [f"imported from {side.source}"] if side.source else []
        said.append("; ".join(facts))
    said.append(report.sentence)
    said.append(f"p: {_test(report)}; interval: {_interval(report)}.")
    said += _power(report)
    said += [f"Not comparable, forced: {reason}" for reason in report.incomparable]
    what = "Solved by" if report.greedy else "Ahead:"
    for name, side in (("A", report.a), ("B", report.b)):
        said.append(f"{what} {name} alone ({len(side.tasks_ahead)}){_some(side.tasks_ahead)}")
    if report.a.variant != report.b.variant:
        said.append(
            f"The prompts differ: A answered variant {report.a.variant}, B {report.b.variant}; the difference is that "
            f"of the prompts too."
        )
    for name, value_a, value_b in report.settings:
        if name != "variant":
            said.append(f"{name}: A {_short(value_a)}, B {_short(value_b)}")
    for name, side, other in (("A", report.a, "B"), ("B", report.b, "A")):
        said += _left_out(name, side, other)
    return said


def _power(report: Comparison) -> list[str]:
    """What so many problems could have shown; nothing to say where a difference was shown."""
    if report.shown or report.paired.n == 1:
        return []
    clusters = report.paired.clusters
    if report.detectable is None:
        few_differ = clusters is None or report.paired.only_a == report.paired.only_b == 0
        where = "On so few problems the two disagree" if few_differ else f"{clusters} repositories are so few"
        return [f"{where} that no difference of any size would show reliably."]
    size = f"{100 * report.detectable:.1f} points"
    if clusters is not None:
        return [f"Over these {clusters} repositories a true difference of {size} would show in four of five cases."]
    more = f"; one of 2 points takes {report.two_points_take:,} such problems" if report.two_points_take else ""
    return [f"Disagreeing as here, a true difference of {size} would show in four of five cases{more}."]


def _left_out(name: str, side: Side, other: str) -> list[str]:
    kinds = (
        (f"Left out, for {other} does not have them: problems in {name} only", side.not_in_other),
        (f"Left out, all their samples are faults in {name}", side.unscored),
        (f"Faults in {name}, samples left out", side.faults),
        (f"Missing in {name}, counted as not solved", side.missing),
    )
    return [f"{title} ({len(items)}){_some(items)}" for title, items in kinds if items]


def _some(items: tuple[str, ...]) -> str:
    if not items:
        return ""
    more = f" … and {len(items) - _LISTED} more (see the JSON)" if len(items) > _LISTED else ""
    return f": {', '.join(items[:_LISTED])}{more}"


def _short(value: object) -> str:
    text = short(str(value), 10_000)
    return text if len(text) <= 24 else text[:12] + "…"
