"""How a grading of patches looks in a terminal."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchwright.app.repositories.grading import PatchGradeReport
from benchwright.app.repositories.summary import RepositorySummary
from benchwright.cli.tables import note, percent, points, simple_table
from benchwright.core.repositories import Rules

_VIEWS = {"all": "all instances", "kept": "without excluded ones"}


def show_patch_grading(out: Console, report: PatchGradeReport) -> None:
    """The whole report of one grading."""
    manifest, summary = report.manifest, report.summary
    out.print(
        f"[bold]{manifest['benchmark']}[/bold] {manifest['version']} ({manifest['subset']})"
        f"  model {escape(str(manifest['model'] or 'unnamed'))}  sandbox {manifest['sandbox']}"
    )
    if manifest["rules"] == Rules.OFFICIAL:
        out.print("[bold]By the official harness's rules[/bold]: its patch fall-backs, and a verdict by the log alone.")
    if not manifest["data_pinned"]:
        out.print("The data was not checked against a published digest.")
    out.print(
        f"{summary.attempts} patches, {summary.problems} instances; {report.executed} executed, {report.reused} in the "
        f"store; {report.wall_seconds:.1f} s"
    )
    out.print(_views(summary))
    if summary.difference is not None:
        out.print(f"Leaving the excluded ones out moves the share of all by {points(summary.difference)} points.")
    out.print(
        simple_table(
            "Outcomes by reason",
            ("outcome", "reason", "instances"),
            [(_outcome(outcome), reason, str(n)) for outcome, reason, n in summary.outcomes],
        )
    )
    out.print(
        simple_table(
            "By repository",
            ("repository", "resolved", "of"),
            [(repo, str(good), str(n)) for repo, good, n in summary.by_repository],
        )
    )
    _notes(out, summary)
    out.print(f"rows and official files: {escape(str(report.folder))}", soft_wrap=True)


def _outcome(outcome: str) -> str:
    return "resolved" if outcome == "passed" else outcome


def _views(summary: RepositorySummary) -> Table:
    table = Table(title="Resolved, 95 % interval", title_justify="left")
    for name in ("instances", "resolved", "of", "faults", "interval by", "of all, faults unresolved"):
        table.add_column(name)
    for view in summary.views:
        estimate = view.estimate
        table.add_row(
            escape(_VIEWS.get(view.name, view.name)),
            percent(estimate) if estimate else "nothing scored",
            str(estimate.n) if estimate else "0",
            str(view.faults),
            estimate.method if estimate else "",
            f"{view.resolved} of {view.instances}, {100 * view.share:.1f} %",
        )
    return table


def _notes(out: Console, summary: RepositorySummary) -> None:
    note(out, "Missing predictions, counted as unresolved", summary.missing)
    note(out, "Faults, left out of the score", summary.faults)
    note(out, "Tampering, for a person to look at", summary.tampered)
    note(out, "Edits that were not kept", summary.dropped_edits)
    note(out, "Excluded", [f"{problem}: {'; '.join(why)}" for problem, why in summary.excluded])
    note(out, "Judged by mended test lists where excluded ones are left out", summary.mended)
    if summary.uncontrolled:
        out.print(
            f"{len(summary.uncontrolled)} of {summary.problems} instances have no control run here; "
            f"`bw bench check` tells which of them run reliably."
        )
