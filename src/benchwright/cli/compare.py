"""``bw compare``."""

from pathlib import Path

import click

from benchwright.app.compare import Comparison, Side, compare
from benchwright.cli.main import print_json
from benchwright.cli.options import json_option
from benchwright.core.runs import Score

_LISTED = 8


@click.command("compare")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option(
    "--score",
    type=click.Choice([score.value for score in Score]),
    default=None,
    help="Score to compare; default: calibrated if both have it, otherwise the last that both have.",
)
@click.option(
    "--force", is_flag=True, help="Compare results of agents even if their evaluations are not comparable, and say so."
)
@json_option
def command(a: Path, b: Path, score: str | None, force: bool, as_json: bool) -> None:
    """Say whether the model graded in folder A is better than that in folder B, problem by problem.

    A and B are folders that `bw grade` or `bw run` wrote, of the same problems.  Nothing is executed.
    """
    report = compare(a, b, None if score is None else Score(score), force=force)
    if as_json:
        print_json(report.to_plain())
        return
    for line in lines(report):
        click.echo(line)


def lines(report: Comparison) -> list[str]:
    """The comparison for people."""
    found = report.paired
    said = [f"{report.benchmark} {report.version}, score {report.score.value}, {found.n} problems that both have"]
    for name, side in (("A", report.a), ("B", report.b)):
        samples = "one sample each" if side.samples == 1 else f"up to {side.samples} samples each"
        flags = f"; flagged {', '.join(side.flags)}, never ranked" if side.flags else ""
        said.append(f"{name}: {side.model} ({side.variant}), {100 * side.mean:.1f} %, {samples}{flags}")
    said.append(report.sentence)
    if report.greedy:
        said.append("p: exact McNemar test over the problems that one alone solves; interval: bootstrap over problems.")
    else:
        said.append("p: sign test over the problems on which one is ahead; interval: bootstrap over problems.")
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
    text = str(value)
    return text if len(text) <= 24 else text[:12] + "…"
