"""``bw verify``."""

from pathlib import Path

import click

from benchwright.app.verifying import VerifyReport, verify
from benchwright.cli.main import print_json
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
    help="File with the benchmark's rows, to compare the tests with; default: those in the bundle are believed.",
)
@json_option
def command(bundle: Path, signer: Path | None, dataset: Path | None, as_json: bool) -> None:
    """Check a result BUNDLE (.bw.zip): that it is unchanged, who signed it, and that its verdicts follow.

    Every digest is checked, every row is judged again from its record, and the numbers are made again from the rows.
    Nothing is executed; `bw grade BENCHMARK BUNDLE` does that.  Ends with 0 when all is well, 1 when something is
    wrong with what is in it, 2 for a file that is no bundle or of an unknown schema version.  Where the archive is not
    what its list says, nothing else is looked at.
    """
    report = verify(bundle, signer=signer, dataset=dataset)
    if as_json:
        print_json(report.to_plain())
    else:
        _show(report)
    if not report.sound:
        raise SystemExit(1)


def _show(report: VerifyReport) -> None:
    run, tally = report.run, report.tally
    click.echo(
        f"{run.get('model')} on {run.get('benchmark')} {run.get('version')} ({run.get('subset')}, {run.get('variant')})"
    )
    click.echo(f"bundle {report.digest[:16]}, {report.files} files, {report.bytes:,} bytes")
    if report.opened:
        click.echo(report.signed)
        click.echo(
            f"{tally.rows} rows: {tally.judged} judged again, {tally.traced} of {tally.jobs} records traced to the "
            f"answers"
        )
    for note in tally.notes:
        click.echo(f"note: {note}")
    for finding in report.findings[:_SHOWN]:
        click.echo(f"{finding.check.value}: {finding.text}")
    if len(report.findings) > _SHOWN:
        click.echo(f"… and {len(report.findings) - _SHOWN} more; --json lists them.")
    if report.sound:
        click.echo("All is well.")
        return
    count = len(report.findings)
    click.echo(f"{'One thing is' if count == 1 else f'{count} things are'} wrong with this bundle.")
    if not report.opened:
        click.echo("Its rows and records were not looked at.")
