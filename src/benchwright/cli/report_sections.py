"""A report as sections of lines and small tables, and how they look in a terminal and as Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchwright.app.reporting import FEWEST_MODELS, IN_THEIR_ORDER, GroupEstimate, Item, ModelReport, Report, p_text
from benchwright.cli.ranking_tables import short
from benchwright.cli.tables import kind_of, laziness_lines, percent, points, score_name
from benchwright.core.runs import Estimate

_SHOWN_K = (1, 2, 5, 10, 25, 50, 100)
_LISTED = 10
_IN_FULL = 5
"""Models that are reported on one by one; of more, there is one line each."""
_GROUPS = 15
"""Rows of a breakdown that are shown unless all are asked for; the JSON has all."""
_SIDE = 3
"""Models side by side in a table of 110 columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a report."""

    title: str
    lines: Sequence[str] = ()
    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    head: bool = False
    """Whether further sections belong to this one."""


def show(out: Console, sections: Iterable[Section]) -> None:
    """Sections in a terminal."""
    for section in sections:
        out.print(f"[bold]{escape(section.title)}[/bold]", soft_wrap=True)
        if section.rows:
            table = Table()
            for number, column in enumerate(section.columns):
                table.add_column(escape(column), justify="right" if number else "left", overflow="fold")
            for row in section.rows:
                table.add_row(*map(escape, row))
            out.print(table)
        for line in section.lines:
            out.print(escape(line), soft_wrap=True)


def markdown(sections: Iterable[Section]) -> str:
    """Sections as Markdown; whatever a name holds is text there."""
    parts = []
    for section in sections:
        parts.append(f"{'#' if section.head else '##'} {_plain(section.title)}")
        if section.rows:
            head = "| " + " | ".join(map(_plain, section.columns)) + " |"
            rule = "|" + "|".join("---:" if number else "---" for number in range(len(section.columns))) + "|"
            parts.append("\n".join([head, rule, *("| " + " | ".join(map(_plain, row)) + " |" for row in section.rows)]))
        if section.lines:
            parts.append("\n".join(f"- {_plain(line)}" for line in section.lines))
    return "\n\n".join(parts) + "\n"


def _plain(text: str) -> str:
    for mark in "\\`*_[]<>|#&":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def sections(report: Report, *, all_groups: bool = False) -> Iterator[Section]:
    """Everything of a report that people are shown; with all groups of the breakdowns, or the first of each."""
    yield Section(title=f"Report on {report.benchmark}", lines=[*_references(report), *report.notes], head=True)
    if len(report.models) > _IN_FULL:
        yield _overview(report)
    for model in report.models if len(report.models) <= _IN_FULL else ():
        yield from _model(model)
        yield from _breakdowns(model, None if all_groups else _GROUPS)
        yield _outcomes(model)
    together = report.together
    if len(report.models) > 1:
        yield Section(
            title=f"{len(together.labels)} models on {len(together.problems)} common problems",
            lines=[f"Apart: {text}" for text in together.apart],
            head=True,
        )
    yield from _needed(report)
    yield from _exclusions(report)
    yield from _items(report)
    yield from _gap(report)


def _references(report: Report) -> Iterator[str]:
    facts = report.facts
    if facts.human:
        yield f"Human reference: {100 * facts.human.value:.0f} %. {facts.human.text} ({facts.human.source})"
    if facts.task_errors:
        yield f"{facts.task_errors.text} ({facts.task_errors.source})"


def _overview(report: Report) -> Section:
    """One line for each of many models, the best first."""
    estimates = {model.label: _counting(model) for model in report.models}
    ordered = sorted(report.models, key=lambda one: (-_value(estimates[one.label]), one.label))
    rows = [
        (
            short(model.label),
            "–" if (estimate := estimates[model.label]) is None else percent(estimate).strip(),
            f"{model.summary.solved}/{model.summary.problems}",
            str(len(model.summary.faults)),
            "–" if model.cost is None else f"{model.cost:.2f}",
        )
        for model in ordered
    ]
    return Section(
        title="Scores, 95 % interval",
        columns=("model", f"pass@1 ({score_name(report.models[0].score.value)})", "solved", "faults", "USD"),
        rows=rows,
        lines=[f"Everything on each model is in the JSON, and printed for up to {_IN_FULL} models."],
    )


def _counting(model: ModelReport) -> Estimate | None:
    """Pass@1 under the score that counts."""
    metric = f"pass@1[{model.score.value}]"
    return next((one for one in model.summary.estimates if one.metric == metric), None)


def _value(estimate: Estimate | None) -> float:
    return -1.0 if estimate is None else estimate.value


def _model(model: ModelReport) -> Iterator[Section]:
    last, summary = model.runs[-1], model.summary
    runs = f"{len(model.runs)} runs" if len(model.runs) > 1 else "1 run"
    source = f", imported from {last.source.title}" if last.source else ""
    about = f"{last.subset}, {last.variant}, data {last.version or 'unknown'}; {runs}{source}"
    scaffold = f"; scaffold {last.scaffold}" if last.scaffold else ""
    yield Section(title=short(model.label, 80), lines=[about + scaffold, *_counts(model)], head=True)
    largest = max((estimate.k for estimate in summary.estimates), default=1)
    yield Section(
        title="Estimates, 95 % interval",
        columns=("score", "k", "pass@k", "of", "interval by"),
        rows=[
            (
                score_name(one.metric.partition("[")[2].rstrip("]")),
                str(one.k),
                percent(one).strip(),
                f"{one.n}; {kind_of(one)}",
                one.method,
            )
            for one in summary.estimates
            if one.k in (*_SHOWN_K, largest)
        ],
        lines=[*_bounds(model), *laziness_lines(summary), *_repeats(model), *_integrity(model)],
    )


def _breakdowns(model: ModelReport, most: int | None) -> Iterator[Section]:
    for kind, groups in model.breakdowns.items():
        shown = groups[:most]
        yield Section(
            title=f"By {kind}",
            columns=(kind, "pass@1", "problems", ""),
            rows=[
                (short(one.group), _interval(one.value, one.low, one.high), str(one.n), "few" if one.small else "")
                for one in shown
            ],
            lines=list(_about_groups(kind, groups, len(shown))),
        )


def _about_groups(kind: str, groups: Sequence[GroupEstimate], shown: int) -> Iterator[str]:
    small = any(group.small for group in groups)
    mixed = small and not all(group.small for group in groups)
    weakest = f"The lowest score first{', then those with few problems' if mixed else ''}."
    yield IN_THEIR_ORDER.get(kind, weakest)
    if len(groups) > shown:
        yield f"{len(groups) - shown} more are shown by --all-groups, and are in the JSON."
    if small:
        yield "few: so few problems that the number should not be relied on."


def _outcomes(model: ModelReport) -> Section:
    outcomes = [
        (outcome, reason, str(n)) for score, outcome, reason, n in model.summary.outcomes if score is model.score
    ]
    return Section(title="Outcomes", columns=("outcome", "reason", "samples"), rows=outcomes)


def _interval(value: float, low: float, high: float) -> str:
    return f"{100 * value:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _counts(model: ModelReport) -> Iterator[str]:
    summary = model.summary
    several = summary.attempts > summary.problems
    by = f" by at least one of {summary.attempts} samples" if several else ""
    yield f"{summary.solved} of {summary.problems} problems solved{by}."
    yield from _listed("Missing, counted as not solved", summary.missing)
    yield from _listed("Faults, left out of the score", summary.faults)
    yield from _listed("Flags", sorted({flag for run in model.runs for flag in run.flags}))
    if model.cost is not None:
        each = f", {model.cost / summary.solved:.3f} for each solved problem" if summary.solved else ""
        yield f"Cost: {model.cost:.2f} USD{each}."
    if model.wall_seconds:
        yield f"Grading took {model.wall_seconds:.0f} s of elapsed and {summary.cpu_seconds:.0f} s of processor time."


def _bounds(model: ModelReport) -> Iterator[str]:
    for score, found in model.bounds.items():
        yield (
            f"Faults could move {score_name(score.value)} between {100 * found.worst:.1f} % (all failures) and "
            f"{100 * found.best:.1f} % (all passes): {found.faults} samples of {found.touched} problems."
        )


def _repeats(model: ModelReport) -> Iterator[str]:
    if model.pass_hat:
        always, sometimes, never = model.consistency
        last = model.pass_hat[-1]
        yield f"Solved always: {always}, sometimes: {sometimes}, never: {never} problems."
        yield f"pass^{last.k}, all of {last.k} samples right: {percent(last).strip()}."
    if len(model.runs) == 1:
        yield "How much the score moves from run to run is not known: give several runs (bw report RUN RUN …)."
    if model.repeats is None:
        return
    found = model.repeats.spread
    runs = ", ".join(f"{100 * one:.1f}" for one in found.means)
    yield (
        f"Between {found.runs} runs ({runs}) the score has a standard deviation of {100 * found.sd:.1f} points "
        f"[{100 * found.low:.1f}, {100 * found.high:.1f}]; the problems' own chance explains "
        f"{100 * found.by_chance:.1f} (p = {p_text(found.p_value)})."
    )
    chance, seen = model.repeats.by_chance, model.repeats.by_spread
    yield (
        f"To see {100 * model.repeats.difference:.0f} points between this model and one that varies like it on these "
        f"problems takes {model.repeats.needed:,} runs of each (power 80 %): {chance:,} by the problems' own chance, "
        f"{seen:,} by how much these {found.runs} runs differ."
    )


def _integrity(model: ModelReport) -> Iterator[str]:
    for run in model.runs:
        found = run.manifest.get("agents", {}).get("integrity")
        if found:
            grave = found["grave"]
            yield (
                f"Integrity: {grave['attempts']} samples with grave findings, {grave['passes']} of them pass; "
                f"{100 * grave['value']:.1f} % without these."
            )


def _needed(report: Report) -> Iterator[Section]:
    needed = report.together.needed
    if needed is None:
        return
    first, second = map(short, report.together.repeated)
    such = (
        f"{needed.on_such:,} runs of each"
        if needed.on_such is not None
        else f"more problems, for runs do not replace them: {needed.problems_for_one_run:,} with one run of each"
    )
    yield Section(
        title=f"To see {100 * needed.difference:.0f} points between {first} and {second}",
        lines=[
            f"On just these problems it takes {needed.on_these:,} runs of each, by their own chance (power 80 %).",
            f"On problems like these it takes {such}.",
        ],
    )


def _exclusions(report: Report) -> Iterator[Section]:
    found, labels = report.together.exclusions, report.together.labels
    if not found:
        return
    rows = [
        (
            one.name,
            str(one.kept),
            *(_change(value, change) for value, change in zip(one.values[:_SIDE], one.changes[:_SIDE], strict=True)),
            *((str(one.moved),) if len(labels) > 1 else ()),
        )
        for one in found
    ]
    columns = ("left out", "problems", *map(short, labels[:_SIDE]), *(("largest move",) if len(labels) > 1 else ()))
    more = [f"{len(labels) - _SIDE} more models are in the JSON."] if len(labels) > _SIDE else []
    yield Section(title="Without the problems of exclusion lists", columns=columns, rows=rows, lines=more)


def _change(value: float | None, change: float | None) -> str:
    if value is None or change is None:
        return "–"
    return f"{100 * value:.1f} % ({points(change)})" if change else f"{100 * value:.1f} %"


def _items(report: Report) -> Iterator[Section]:
    found = report.together.items
    if found is None:
        return
    by_id = {row.problem: row for row in found.rows}
    rows = [(one, *_figures(by_id[one]), ", ".join(by_id[one].suspect)) for one in found.suspects[:_LISTED]]
    lines = [*_listed("Solved by no model", found.unsolved), *_listed("Solved by every model", found.always)]
    if found.models < FEWEST_MODELS:
        lines.append(f"No problem is called suspect with fewer than {FEWEST_MODELS} models.")
    elif not found.suspects:
        lines.append(f"No suspect problems among {len(found.rows)}, by {found.models} models.")
    elif len(found.suspects) > _LISTED:
        lines.append(f"{len(found.suspects) - _LISTED} more suspect problems are in the JSON.")
    yield Section(
        title=f"Problems: {len(found.suspects)} suspect",
        columns=("problem", "solved", "correlation", "difficulty", "discrimination", "because of"),
        rows=rows,
        lines=lines,
    )


def _figures(item: Item) -> tuple[str, ...]:
    share = "–" if item.share is None else f"{100 * item.share:.0f} %"
    numbers = (item.correlation, item.difficulty, item.discrimination)
    return (share, *("–" if one is None else f"{one:.2f}" for one in numbers))


def _gap(report: Report) -> Iterator[Section]:
    found = report.together.gap
    if found is None:
        return
    paired = found.paired
    yield Section(
        title="Open and closed weights",
        lines=[
            f"Best open model: {short(report.together.open_best)}; best closed: {short(report.together.closed_best)}.",
            (
                f"Open minus closed {points(paired.difference)} points [{points(paired.low)}, {points(paired.high)}], "
                f"p = {p_text(paired.p_value)}, n = {paired.n}; the best open one is ahead in "
                f"{100 * found.a_ahead:.0f} % of resamplings."
            ),
        ],
    )


def _listed(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        more = f" … and {len(items) - _LISTED} more (see the JSON)" if len(items) > _LISTED else ""
        yield f"{title} ({len(items)}): {', '.join(items[:_LISTED])}{more}"
