"""Tables for people: how a grading, control runs and findings look in a terminal."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from benchwright.app.grading import GradeReport
from benchwright.app.summary import Summary
from benchwright.cli.main import visible
from benchwright.core.runs import Estimate, Score

_LISTED = 8
_SHOWN_K = (1, 2, 5, 10, 25, 50, 100)
"""Of pass@k for every k the table shows these and the largest; the JSON has all."""
_NAMES = {
    Score.AS_WRITTEN.value: "as written",
    Score.EXTRACTED.value: "extracted (uncalibrated)",
    Score.CALIBRATED.value: "calibrated",
    Score.PATCH.value: "resolved",
}


class SafeConsole(Console):
    """Spells out what would steer the terminal in any text it is given: names and messages are other people's."""

    def render_str(self, text: str, **how: Any) -> Text:
        """As the library does it, of a text made `visible`."""
        return super().render_str(visible(text), **how)


def console() -> Console:
    """Standard output; plain, and 110 columns wide unless COLUMNS says more or less, when it is not a terminal."""
    plain = SafeConsole(highlight=False, soft_wrap=False)
    said = os.environ.get("COLUMNS", "").isdecimal()
    return plain if plain.is_terminal or said else SafeConsole(highlight=False, width=110)


def percent(estimate: Estimate) -> str:
    """``61.1 %  [58.2, 63.9]``."""
    return f"{100 * estimate.value:5.1f} %  [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def score_name(value: str) -> str:
    """A score's name for people."""
    return _NAMES[value]


def kind_of(estimate: Estimate) -> str:
    """Whether a number is a greedy rate or an unbiased estimate; the two are different quantities."""
    if estimate.samples == 1:
        return "one sample per problem"
    return f"unbiased, n = {estimate.samples}"


def show_grading(out: Console, report: GradeReport) -> None:
    """The whole report of one grading."""
    manifest, summary = report.manifest, report.summary
    out.print(
        f"[bold]{manifest['benchmark']}[/bold] {manifest['version']} ({manifest['subset']}, {manifest['variant']})"
        f"  model {escape(str(manifest['model'] or 'unnamed'))}  environment {manifest['environment']}"
    )
    if manifest["status"] == "stopped":
        out.print(
            f"[bold]Stopped before its end[/bold]: {len(manifest['not_asked'])} samples were not asked, and count "
            f"nowhere below."
        )
    if manifest["isolation"] != "namespace":
        out.print(f"[bold]Isolation level {manifest['isolation']}[/bold]: weaker than the default.")
    if not manifest["data_pinned"]:
        out.print("The data was not checked against a published digest.")
    out.print(
        f"{summary.attempts} samples, {summary.problems} problems; (sample, score) pairs: {report.run.executed} "
        f"executed, {report.run.reused} in the store, {report.run.duplicates} identical; {report.wall_seconds:.1f} s"
    )
    out.print(_estimate_table(summary))
    for line in laziness_lines(summary):
        out.print(line, soft_wrap=True)
    out.print(_outcome_table(summary))
    out.print(_slowest_table(summary))
    show_notes(out, summary)
    files = "rows" if manifest["status"] == "stopped" else "rows and official files"
    out.print(f"{files}: {escape(str(report.folder))}", soft_wrap=True)


def _estimate_table(summary: Summary) -> Table:
    table = Table(title="Pass@k, 95 % interval", title_justify="left")
    table.add_column("score")
    table.add_column("k", justify="right")
    table.add_column("value", justify="right")
    table.add_column("of")
    table.add_column("interval by")
    if summary.estimates_controlled:
        table.add_column("without failing references", justify="right")
    controlled = {estimate.metric: estimate for estimate in summary.estimates_controlled}
    largest = max((estimate.k for estimate in summary.estimates), default=1)
    for estimate in summary.estimates:
        if estimate.k not in (*_SHOWN_K, largest):
            continue
        score = estimate.metric.partition("[")[2].rstrip("]")
        cells = [score_name(score), str(estimate.k), percent(estimate), f"{estimate.n}; {kind_of(estimate)}"]
        cells.append(estimate.method)
        if summary.estimates_controlled:
            other = controlled.get(estimate.metric)
            cells.append(f"{percent(other)} of {other.n}" if other else "")
        table.add_row(*cells)
    return table


def laziness_lines(summary: Summary) -> list[str]:
    """What left-out imports and constants cost, and the plain gap; nothing when there is only one score."""
    found = summary.laziness
    if found is None:
        return []
    gap = found.gap
    lost = (
        f"Laziness {100 * found.value:.1f} %  [{100 * found.low:.1f}, {100 * found.high:.1f}]: {len(found.tasks)} of "
        f"{found.n} tasks fail as extracted for want of a name the stub gives, and pass calibrated"
    )
    if gap.only_a == gap.only_b == 0:  # resampling nothing but zeros would claim an interval of no width
        return [lost, "Calibrated minus extracted +0.0 points: no task came out differently"]
    plain = (
        f"Calibrated minus extracted {points(gap.difference)} points  [{points(gap.low)}, {points(gap.high)}], "
        f"p = {gap.p_value:.2g}"
    )
    return [lost, plain]


def points(share: float) -> str:
    """A difference of shares in points, with its sign; nothing is not below zero."""
    return f"{round(100 * share, 1) + 0.0:+.1f}"


def _outcome_table(summary: Summary) -> Table:
    scores = list(dict.fromkeys(score for score, _, _, _ in summary.outcomes))
    table = Table(title="Outcomes by reason", title_justify="left")
    table.add_column("outcome")
    table.add_column("reason")
    for score in scores:
        table.add_column(score_name(score.value), justify="right")
    counts = {(score, outcome, reason): n for score, outcome, reason, n in summary.outcomes}
    kinds = sorted(
        {(outcome, reason) for _, outcome, reason, _ in summary.outcomes},
        key=lambda kind: -max(counts.get((score, *kind), 0) for score in scores),
    )
    for outcome, reason in kinds:
        table.add_row(outcome, reason, *(str(counts.get((score, outcome, reason), 0)) for score in scores))
    return table


def _slowest_table(summary: Summary) -> Table:
    table = Table(title="Slowest samples", title_justify="left")
    for name in ("sample", "seconds", "reason"):
        table.add_column(name, justify="right" if name == "seconds" else "left")
    for name, seconds, reason in summary.slowest[:5]:
        table.add_row(escape(name), f"{seconds:.2f}", reason)
    return table


def show_notes(out: Console, summary: Summary) -> None:
    """What a reader must know before quoting the number."""
    note(out, "Missing samples, counted as not solved", summary.missing)
    note(out, "Faults, left out of the score", summary.faults)
    note(out, "Tampering, for a person to look at", summary.tampered)
    note(out, "References that fail here", summary.failed_references)
    if summary.uncontrolled:
        out.print(
            f"{summary.uncontrolled} of {summary.problems} problems have no control run in this environment: limits "
            f"are the official 240 s, and tasks that cannot pass here are not known.  Run `bw bench check` first."
        )


def note(out: Console, title: str, items: Sequence[str]) -> None:
    """A title with the first few of some items; nothing when there is none."""
    if not items:
        return
    listed = [escape(item) for item in items[:_LISTED]]
    shown = ", ".join(listed) if all(len(item) < 40 for item in items) else "\n  " + "\n  ".join(listed)
    more = f" … and {len(items) - _LISTED} more (see the JSON)" if len(items) > _LISTED else ""
    out.print(f"[bold]{title}[/bold] ({len(items)}): {shown}{more}", soft_wrap=True)


def simple_table(title: str, columns: Iterable[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of text."""
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    return table
