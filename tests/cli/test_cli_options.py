"""Options that several commands share."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from benchwright.cli.options import sandbox_option


def test_an_installed_sandbox_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another package registers is offered next to what is built in; everything else is refused by name."""
    metadata = tmp_path / "cages-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: cages\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[benchwright.sandboxes]\ncage = cages:Cage\n")
    monkeypatch.syspath_prepend(tmp_path)

    @click.command()
    @sandbox_option("What it runs in.")
    def command(sandbox: str) -> None:
        click.echo(sandbox)

    run = CliRunner().invoke
    assert run(command, []).output == "namespace\n"
    assert run(command, ["--sandbox", "cage"]).output == "cage\n"
    refused = run(command, ["--sandbox", "crate"])
    assert refused.exit_code == 2
    assert all(name in refused.output for name in ("cage", "docker", "namespace"))
