"""``bw env``."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from benchwright.app import catalogue
from benchwright.app.workspace import Workspace
from benchwright.cli import env_settings
from benchwright.cli.main import print_json
from benchwright.cli.options import F, dataset_options, json_option, refuse_given, repository_options
from benchwright.cli.patches import build_instances, check_layers, plan_instances, selection_of
from benchwright.core.errors import UsageError

if TYPE_CHECKING:
    from benchwright.app.repositories.selection import Selection


def _instances(function: F) -> F:
    """The options that say which instances of a benchmark of repositories are meant."""
    function = repository_options(function)
    function = click.option("--ids", default=None, help="Repository problems: only these, separated by commas.")(
        function
    )
    return dataset_options(function)


_INSTANCES = {
    "subset": "--subset", "dataset": "--dataset", "data_version": "--data-version", "ids": "--ids",
    "sandbox": "--sandbox", "repo_sources": "--repo-source", "specs": "--specs", "rootfs": "--rootfs",
    "images": "--images",
}  # fmt: skip


def _selection(name: str, given: dict[str, Any]) -> "Selection | None":
    """Which instances are meant when the name is that of a benchmark of repositories; otherwise None."""
    if not catalogue.is_repositories(name):
        refuse_given(_INSTANCES, name)
        return None
    data = catalogue.Data(
        benchmark=name, subset=given.pop("subset"), version=given.pop("data_version"), path=given.pop("dataset")
    )
    return selection_of(data, given.pop("ids"), **given)


@click.group("env")
def command() -> None:
    """Plan, build, check, list and remove environments that answers run in."""


command.add_command(env_settings.command)


@command.command("plan")
@click.argument("name")
@_instances
@json_option
def plan_command(name: str, as_json: bool, **selecting: Any) -> None:
    """Say what building environment NAME would do here; nothing is built.

    NAME may be a benchmark of repositories: then all environments that its instances need are planned.
    """
    selection = _selection(name, selecting)
    if selection is not None:
        plan_instances(selection, as_json=as_json)
        return
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
@_instances
@click.option("--size-cap", type=click.FloatRange(min=0), default=None, help="Repository problems: GiB at most.")
@click.option("--force", is_flag=True, help="Build again even if it is there.")
@json_option
def build_command(name: str, force: bool, size_cap: float | None, as_json: bool, **selecting: Any) -> None:
    """Build environment NAME from the lock shipped with this version.

    NAME may be a benchmark of repositories: then the environments of its instances are built, layer by layer; what
    is there already stays.  Ends with 3 when one of them failed.
    """
    selection = _selection(name, selecting)
    if selection is not None:
        refuse_given({"force": "--force"}, name)
        build_instances(selection, size_cap=None if size_cap is None else int(size_cap * 2**30), as_json=as_json)
        return
    refuse_given({"size_cap": "--size-cap"}, name)
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
@_instances
@json_option
def check_command(name: str, as_json: bool, **selecting: Any) -> None:
    """Prove that environment NAME is as its lock says; ends with 3 when it is broken.

    Of a benchmark of repositories, every file of its instances' layers is compared with what was built.
    """
    selection = _selection(name, selecting)
    if selection is not None:
        check_layers(name, selection, as_json=as_json)
        return
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
    from benchwright.app.repositories.environments import built_repositories

    known = listing(_workspace())
    layers = built_repositories(_workspace())
    plain = [
        {"name": item.name, "state": item.state.value, "prefix": str(item.prefix), "detail": item.detail,
         "size_bytes": item.manifest.size_bytes if item.manifest else None}
        for item in known.built
    ]  # fmt: skip
    if as_json:
        print_json({"built": plain, "not_built": [name for name, _ in known.not_built], "layers": layers})
        return
    for item in known.built:
        size = f"{item.manifest.size_bytes / 2**20:.0f} MiB" if item.manifest else ""
        click.echo(f"{item.name:20} {item.state.value:11} {size:>9}  {item.prefix} {item.detail}".rstrip())
    for name, title in known.not_built:
        click.echo(f"{name:20} not built              {title}")
    for layer in layers:
        click.echo(f"{layer['kind']:20} layer       {layer['bytes'] / 2**20:>5.0f} MiB  {layer['name']}")


@command.command("remove")
@click.argument("name")
@_instances
@json_option
def remove_command(name: str, as_json: bool, **selecting: Any) -> None:
    """Remove every build of environment NAME; of a benchmark of repositories, its instances' own layers."""
    selection = _selection(name, selecting)
    if selection is not None:
        from benchwright.app.repositories.environments import remove_repositories

        freed = remove_repositories(selection, _workspace())
        if as_json:
            print_json({"name": name, "freed_bytes": freed})
        else:
            click.echo(f"freed {freed / 2**20:.0f} MiB")
        return
    from benchwright.app.environments import remove

    removed = remove(name, _workspace())
    if as_json:
        print_json({"name": name, "removed": [str(path) for path in removed]})
        return
    for path in removed:
        click.echo(f"removed {path}")


@command.command("pack")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@_instances
@json_option
def pack_command(name: str, file: Path, as_json: bool, **selecting: Any) -> None:
    """Write the built environments of a benchmark of repositories, NAME, into one compressed FILE."""
    selection = _selection(name, selecting)
    if selection is None:
        raise UsageError(f"Only environments of repositories can be packed; {name} is built from its lock instead.")
    from benchwright.app.repositories.environments import pack_repositories

    packed = pack_repositories(selection, file, _workspace())
    _say_packed("packed", packed.instances, packed.layers, packed.bytes, as_json=as_json)


@command.command("unpack")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def unpack_command(file: Path, as_json: bool) -> None:
    """Take over the environments of a FILE that `bw env pack` wrote; every file's content is checked."""
    from benchwright.app.repositories.environments import unpack_repositories

    packed = unpack_repositories(file, _workspace())
    _say_packed("unpacked", packed.instances, packed.layers, packed.bytes, as_json=as_json)


@command.command("gc")
@click.option("--size-cap", type=click.FloatRange(min=0), required=True, help="GiB that may be left.")
@json_option
def gc_command(size_cap: float, as_json: bool) -> None:
    """Remove leftovers, and the environments of repositories used longest ago, until --size-cap is kept."""
    from benchwright.app.repositories.environments import collect

    freed, left = collect(int(size_cap * 2**30), _workspace())
    if as_json:
        print_json({"freed_bytes": freed, "bytes": left})
    else:
        click.echo(f"freed {freed / 2**20:.0f} MiB; {left / 2**20:.0f} MiB are left")


def _say_packed(what: str, instances: tuple[str, ...], layers: tuple[str, ...], size: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"instances": list(instances), "layers": list(layers), "bytes": size})
    else:
        click.echo(f"{what} {len(instances)} instances in {len(layers)} layers; the file has {size / 2**20:.0f} MiB")


def _workspace() -> Workspace:
    return Workspace.from_environment(os.environ)
