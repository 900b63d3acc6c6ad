"""``bw demo``."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchwright.app.demo import STORE, SYSTEMS, DemoReport, run_demo
from benchwright.app.grading import GradeReport
from benchwright.app.workspace import Workspace
from benchwright.cli.grade import to_plain
from benchwright.cli.main import print_json
from benchwright.cli.options import isolation_option, json_option, progress_bar
from benchwright.core.execution import Isolation
from benchwright.core.runs import Score

if TYPE_CHECKING:
    from rich.console import Console


@click.command("demo")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("benchwright-results/demo"),
    show_default=True,
    help="Folder for the results; those of another version in it are set aside.",
)
@isolation_option
@json_option
def command(out: Path, isolation: str, as_json: bool) -> None:
    """Grade and rank three recorded fictitious systems on the built-in starter benchmark.

    Builds the small starter environment first if it is not there.
    """
    with progress_bar("running") as update:
        report = run_demo(
            Workspace.from_environment(os.environ),
            out,
            isolation=Isolation(isolation),
            say=lambda text: click.echo(text, err=True),
            progress=update,
        )
    if as_json:
        systems = {name: to_plain(one) for name, one in report.gradings.items()}
        print_json({"systems": systems, "ranking": report.ranking.to_plain()})
    else:
        _show(report)


def _show(report: DemoReport) -> None:
    from rich.markup import escape

    from benchwright.cli.ranking_tables import show_ranking
    from benchwright.cli.tables import console

    out = console()
    check = report.check
    passing = sum(control.reference_passes for control in check.controls)
    failing = sum(not control.stub_passes for control in check.controls)
    out.print(
        f"\n[bold]Control runs[/bold]: {passing} of {len(check.controls)} references pass here, "
        f"{failing} of {len(check.controls)} empty stubs fail.\n"
    )
    _show_gradings(out, report.gradings)
    out.print()
    show_ranking(out, report.ranking, every_table=False)
    folder = next(iter(report.gradings.values())).folder.parent
    out.print(f"\nResults: {escape(str(folder))}", soft_wrap=True)
    _show_next(out, folder)


def _show_gradings(out: "Console", gradings: Mapping[str, GradeReport]) -> None:
    """Scores, outcomes by reason, the slowest samples, and what tampered."""
    from rich.markup import escape

    from benchwright.cli.tables import percent, simple_table

    rows: list[tuple[str, ...]] = []
    reasons: dict[tuple[str, str], dict[str, int]] = {}
    for name, grading in gradings.items():
        by_metric = {estimate.metric: estimate for estimate in grading.summary.estimates}
        rows.append(
            (name, percent(by_metric["pass@1[extracted]"]), percent(by_metric["pass@1[calibrated]"]), SYSTEMS[name])
        )
        for score, outcome, reason, count in grading.summary.outcomes:
            if score is Score.CALIBRATED:
                reasons.setdefault((outcome, reason), {})[name] = count
    columns = ("system", "extracted (uncalibrated)", "calibrated", "what it shows")
    out.print(simple_table("Pass@1 with 95 % interval, one answer per problem", columns, rows))
    ordered = sorted(reasons.items(), key=lambda item: -sum(item[1].values()))
    table = [(*kind, *(str(counts.get(name, "")) for name in SYSTEMS)) for kind, counts in ordered]
    out.print(simple_table("Outcomes by reason, calibrated", ("outcome", "reason", *SYSTEMS), table))
    slowest = sorted((item for one in gradings.values() for item in _named(one)), key=lambda item: -item[1])
    lines = [(sample, f"{seconds:.2f}", reason) for sample, seconds, reason in slowest[:5]]
    out.print(simple_table("Slowest samples", ("sample", "seconds", "reason"), lines))
    for name, grading in gradings.items():
        for text in grading.summary.tampered:
            out.print(f"[bold]tampering[/bold] {name} {escape(text)}", soft_wrap=True)


def _named(grading: GradeReport) -> list[tuple[str, float, str]]:
    model = grading.manifest["model"]
    return [(f"{model} {name}", seconds, reason) for name, seconds, reason in grading.summary.slowest]


def _show_next(out: "Console", folder: Path) -> None:
    """Commands to go on with."""
    from rich.markup import escape

    lines = [
        ("bw doctor", "what this machine can isolate and run"),
        (f"bw diff {folder}/alder {folder}/birch", "every verdict on which the two differ"),
        (f"bw compare {folder}/alder {folder}/cedar", "is one better, by how much, and could it be chance"),
        (f"bw results list --store {folder}/{STORE}", "the runs that are recorded"),
        ("bw env build bigcodebench", "the environment of the 1,140 real tasks"),
        ("bw grade bigcodebench samples.jsonl", "verdicts for your own samples"),
    ]
    if shutil.which("bw") is None:
        lines.insert(0, ("source .venv/bin/activate", "so that the command bw is found"))
    width = max(len(call) for call, _ in lines)
    for number, (call, what) in enumerate(lines):
        start = "Next: " if number == 0 else "      "
        out.print(f"{start} {escape(call):{width}}  {what}", soft_wrap=True)
