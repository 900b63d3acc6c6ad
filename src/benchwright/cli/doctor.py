"""``bw doctor``."""

import os

import click

from benchwright.app.doctor import Health, examine, to_plain
from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json
from benchwright.cli.options import json_option

_MARKS = {Health.GOOD: "ok  ", Health.NOTE: "note", Health.BAD: "BAD "}


@click.command("doctor")
@json_option
def command(as_json: bool) -> None:
    """Say what this machine can isolate, which interpreters and environments are there, and what to do.

    Ends with 3 when answers cannot be isolated at the default level.
    """
    findings = examine(Workspace.from_environment(os.environ))
    if as_json:
        print_json(to_plain(findings))
    else:
        for finding in findings:
            click.echo(f"{_MARKS[finding.health]}  {finding.topic}: {finding.text}")
            if finding.advice:
                click.echo(f"      do: {finding.advice}")
    if any(finding.health is Health.BAD for finding in findings):
        raise SystemExit(3)
