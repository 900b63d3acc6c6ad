"""``bw verify``."""

from pathlib import Path

import click

from benchwright.app.verifying import VerifyReport, verify
from benchwright.cli.main import print_json, visible
from benchwright.cli.options import json_option

_SHOWN = 20


@click.command("verify")
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option(
    "--signer",
    type=click.Path(path_type=Path),
    default=None,
    help="Public key (SSH or minisign), or a file of allowed signers as ssh-keygen has it, that must have signed.",
)
@click.option(
    "--dataset",
    type=click.Path(path_type=Path),
    default=None,
    help="File with the benchmark's rows, to compare problems and tests with; built-in rows are taken by themselves.",
)
@click.option("--allow-open", is_flag=True, help="End with 0 although something that could change the score is open.")
@json_option
def command(bundle: Path, signer: Path | None, dataset: Path | None, allow_open: bool, as_json: bool) -> None:
    """Check a result BUNDLE (.bw.zip): that it is unchanged, who signed it, and that its verdicts follow.

    Every digest is checked, every row is judged again from its record, and the numbers are made again from the rows.
    Nothing is executed; `bw grade BENCHMARK BUNDLE` does that.  Ends with 0 when all is well, 1 when something is
    wrong with what is in it, or when something that could change the score is shown by nothing (unless --allow-open is
    given), 2 for a file that is no bundle or of an unknown schema version.  Where the archive is not what its list
    says, nothing else is looked at.
    """
    report = verify(bundle, signer=signer, dataset=dataset)
    if as_json:
        print_json(report.to_plain())
    else:
        _show(report)
    if not report.sound or (report.open and not allow_open):
        raise SystemExit(1)


def _show(report: VerifyReport) -> None:
    run, tally = report.run, report.tally
    _say(
        f"{run.get('model')} on {run.get('benchmark')} {run.get('version')} ({run.get('subset')}, {run.get('variant')})"
    )
    click.echo(f"bundle {report.digest[:16]}, {report.files} files, {report.bytes:,} bytes")
    if report.opened:
        _say(report.signed)
    if tally.rows:
        click.echo(
            f"{tally.rows} rows: {tally.judged} judged again, {tally.traced} of {tally.jobs} records traced to the "
            f"answers"
        )
    for note in tally.notes:
        _say(f"note: {note}")
    for finding in report.findings[:_SHOWN]:
        _say(f"{finding.check.value}: {finding.text}")
    if len(report.findings) > _SHOWN:
        _say(f"… and {len(report.findings) - _SHOWN} more; --json lists them.")
    for text in report.open:
        _say(f"not shown: {text}")
    _say(_conclusion(report))
    if not report.opened:
        _say("Its rows and records were not looked at.")


def _conclusion(report: VerifyReport) -> str:
    count = len(report.findings)
    if count:
        return f"{'One thing is' if count == 1 else f'{count} things are'} wrong with this bundle."
    if report.open:
        return "Nothing contradicts it, but not everything that could change the score is shown."
    return "All is well."


def _say(text: str) -> None:
    """Print a line that other people's words are part of."""
    click.echo(visible(text).replace("\n", " "))
