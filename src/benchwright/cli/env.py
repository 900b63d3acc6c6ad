"""``bw env``."""

import os

import click

from benchwright.app.workspace import Workspace
from benchwright.cli.main import print_json
from benchwright.cli.options import json_option


@click.group("env")
def command() -> None:
    """Plan, build, check, list and remove environments that answers run in."""


@command.command("plan")
@click.argument("name")
@json_option
def plan_command(name: str, as_json: bool) -> None:
    """Say what building environment NAME would do here; nothing is built."""
    from benchwright.app.environments import plan

    planned = plan(name, _workspace())
    if as_json:
        print_json(
            {
                "name": planned.name, "prefix": str(planned.prefix), "built": planned.built,
                "python": str(planned.interpreter.executable) if planned.interpreter else None,
                "problem": planned.problem, "packages": planned.packages, "data": list(planned.data),
                "download_mib": planned.download_mib, "size_mib": planned.size_mib, "free_mib": planned.free_mib,
            }
        )  # fmt: skip
        return
    state = "already built" if planned.built else "not built"
    click.echo(f"{planned.name}: {state}; {planned.packages} packages, about {planned.size_mib} MiB on disk")
    click.echo(f"downloads: about {planned.download_mib} MiB; free: {planned.free_mib} MiB; folder: {planned.prefix}")
    if planned.interpreter:
        click.echo(f"Python: {planned.interpreter.executable}")
    if planned.problem:
        click.echo(f"obstacle: {planned.problem}")


@command.command("build")
@click.argument("name")
@click.option("--force", is_flag=True, help="Build again even if it is there.")
@json_option
def build_command(name: str, force: bool, as_json: bool) -> None:
    """Build environment NAME from the lock shipped with this version."""
    from benchwright.app.environments import build

    environment = build(name, _workspace(), report=lambda text: click.echo(text, err=True), force=force)
    absent = [item.name for item in environment.manifest.data if not item.present]
    if as_json:
        print_json(
            {
                "name": environment.name, "digest": environment.digest, "prefix": str(environment.prefix),
                "python": environment.manifest.python_version, "packages": len(environment.manifest.packages),
                "size_bytes": environment.manifest.size_bytes, "missing_data": absent,
            }
        )  # fmt: skip
        return
    size = environment.manifest.size_bytes / 2**20
    click.echo(f"{name} is ready: {len(environment.manifest.packages)} packages, {size:.0f} MiB, {environment.prefix}")
    if absent:
        click.echo(
            f"data that could not be had: {', '.join(absent)}; `bw bench check` names the tasks that fail for it"
        )


@command.command("check")
@click.argument("name")
@json_option
def check_command(name: str, as_json: bool) -> None:
    """Prove that environment NAME is as its lock says; ends with 3 when it is broken."""
    from benchwright.app.environments import check

    findings = check(name, _workspace())
    broken = any(finding.serious for finding in findings)
    if as_json:
        plain = [{"kind": f.kind.value, "subject": f.subject, "detail": f.detail} for f in findings]
        print_json({"name": name, "sound": not broken, "findings": plain})
    else:
        for finding in findings:
            click.echo(f"{finding.kind.value}: {finding.subject}: {finding.detail}")
        state = f"broken; build it again with `bw env build {name} --force`" if broken else "sound"
        click.echo(f"{name} is {state}.")
    if broken:
        raise SystemExit(3)


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List environments: those this version knows, and what is built."""
    from benchwright.app.environments import listing

    known = listing(_workspace())
    plain = [
        {"name": item.name, "state": item.state.value, "prefix": str(item.prefix), "detail": item.detail,
         "size_bytes": item.manifest.size_bytes if item.manifest else None}
        for item in known.built
    ]  # fmt: skip
    if as_json:
        print_json({"built": plain, "not_built": [name for name, _ in known.not_built]})
        return
    for item in known.built:
        size = f"{item.manifest.size_bytes / 2**20:.0f} MiB" if item.manifest else ""
        click.echo(f"{item.name:20} {item.state.value:11} {size:>9}  {item.prefix} {item.detail}".rstrip())
    for name, title in known.not_built:
        click.echo(f"{name:20} not built              {title}")


@command.command("remove")
@click.argument("name")
@json_option
def remove_command(name: str, as_json: bool) -> None:
    """Remove every build of environment NAME."""
    from benchwright.app.environments import remove

    removed = remove(name, _workspace())
    if as_json:
        print_json({"name": name, "removed": [str(path) for path in removed]})
        return
    for path in removed:
        click.echo(f"removed {path}")


def _workspace() -> Workspace:
    return Workspace.from_environment(os.environ)
