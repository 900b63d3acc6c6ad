"""``bw env settings``."""

import os
from pathlib import Path
from typing import Any

import click

from benchwright.app import catalogue
from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json
from benchwright.cli.options import dataset_options, json_option
from benchwright.cli.patches import selection_of
from benchwright.core.errors import UsageError


@click.command("settings")
@click.argument("name")
@click.option("--for", "provider", type=click.Choice(["docker", "k8s"]), required=True, help="Inspect's provider.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Folder to write one folder per instance to."
)
@click.option("--registry", metavar="PREFIX", default=None, help="Host and path that a cluster pulls from; with k8s.")
@click.option("--ids", default=None, help="Only these instances, separated by commas.")
@click.option("--specs", type=click.Path(path_type=Path), default=None, help="Folder with your own specifications.")
@click.option(
    "--rootfs", type=click.Path(path_type=Path), default=None, help="Archive they were built on, if not Debian's."
)
@dataset_options
@json_option
def command(name: str, provider: str, out: Path, registry: str | None, as_json: bool, **selecting: Any) -> None:
    """Write settings with which Inspect's own sandboxes open the built environments of benchmark NAME.

    The container engine is given the images, made of the layers that are built here.
    """
    from benchwright.app.repositories.provider_settings import Provider, write_settings

    if not catalogue.is_repositories(name):
        raise UsageError(f"Only benchmarks of repositories have settings for sandboxes, and {name} is none.")
    data = catalogue.Data(
        benchmark=name,
        subset=selecting.pop("subset"),
        version=selecting.pop("data_version"),
        path=selecting.pop("dataset"),
    )
    selection = selection_of(data, selecting.pop("ids"), **selecting)
    workspace = Workspace.from_environment(os.environ)
    written = write_settings(selection, Provider(provider), out, workspace, registry=registry)
    if as_json:
        print_json(
            {
                "for": provider,
                "files": {problem: str(path) for problem, path in written.files.items()},
                "images": dict(written.images),
                "push_script": str(written.push_script) if written.push_script else None,
                "unavailable": dict(written.unavailable),
            }
        )
        return
    click.echo(f"wrote the settings of {len(written.files)} instances below {out}")
    if written.push_script:
        click.echo(f"now give the images to the registry: {written.push_script}")
    for problem, reason in written.unavailable.items():
        click.echo(f"{problem} cannot be had on this machine: {reason}")
