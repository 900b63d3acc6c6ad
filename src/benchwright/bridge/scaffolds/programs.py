"""Finding the native program of somebody else's scaffold on this machine, or fetching a pinned version of it.

A program is looked for where the user says, in what npm has installed globally or `PATH` names, and in our own home
folder; what is not there is fetched with ``npm pack``, and only if its digest is in the table that is shipped.
"""

import dataclasses
import json
import platform
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from benchwright.bridge.scaffolds.program_downloads import fetched, npm_for
from benchwright.core.errors import UsageError

_TABLE = "programs.toml"
_DESCRIPTION = "package.json"
_ELF = b"\x7fELF"
_NO_TRACES = ("--logs-max=0", "--no-update-notifier")
"""Without these npm keeps a log of every command, and asks now and then whether there is a newer npm."""
_SHORT_SECONDS = 60
"""For a command that reads a few files and says one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSource:
    """How the makers of a program publish it; the fields are explained in the table, ``programs.toml``."""

    name: str
    """Of the scaffold."""
    command: str
    package: str
    native: str
    pack: str
    entry: str
    path: tuple[str, ...]
    pinned: str
    megabytes: Mapping[str, list[int]]
    integrity: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that was found, or that can be had."""

    folder: Path
    """What is mounted."""
    entry: str
    """The program, relative to the folder."""
    path: tuple[str, ...] = ()
    """Folders for its ``PATH``, relative to the folder."""
    version: str = ""
    """Empty when nothing tells."""
    origin: str
    """``given``, ``installed`` or ``pinned``; of one that is not here, what would have to be done first."""
    here: bool = True


def program_source(name: str) -> ProgramSource:
    """What the shipped table says of a scaffold's program.  Raises ``KeyError``."""
    text = resources.files("benchwright.bridge.scaffolds").joinpath(_TABLE).read_text("utf-8")
    entry = tomllib.loads(text)[name]
    return ProgramSource(name=name, **{**entry, "path": tuple(entry["path"])})


def find_program(
    source: ProgramSource,
    *,
    given: Path | None,
    version: str | None,
    environ: Mapping[str, str],
    home: Path,
    fetch: bool = True,
    say: Callable[[str], None] = lambda line: None,
) -> Program:
    """The program to be used.

    Args:
        source: Which one.
        given: The program or the folder it was installed in, as the user says; nothing else is looked at then.
        version: The only one that will do; None takes what is installed, or the pinned one.
        environ: Of this process, for ``PATH``.
        home: Below it what was fetched is kept.
        fetch: Whether it may be fetched; if not, one that would have to be is not `Program.here`.
        say: Told of a download before it begins: what, how large, and where to.

    Raises:
        UsageError: It is not where the user says, has another version, is not published for this machine, or is
            not there and its version not in the table.
        MachineError: It cannot be fetched, or is not what the table says.
    """
    if given is not None:
        return _of_version(source, _given(source, given), version)
    found = installed_program(source, environ)
    if found is not None and version in (None, found.version):
        return found
    return _pinned(source, version or source.pinned, home, fetch, say)


def kept_in(home: Path, name: str, version: str) -> Path:
    """Where a version of a scaffold's program that was fetched or built is kept."""
    return home / "programs" / f"{name}-{version}"


def _given(source: ProgramSource, given: Path) -> Program:
    path = given.expanduser().absolute()
    if path.is_dir():
        found = _native_below(source, path, "given")
    elif path.is_file():
        found = _at(source, path, "given")
    else:
        raise UsageError(f"{given} is not there; give the program {source.command} or the folder it is installed in.")
    if found is None:
        raise UsageError(
            f"No native program for Linux was found in {given}; expected an executable {source.command} or the npm "
            f"package {source.native} with {source.entry} in it."
        )
    return found


def _of_version(source: ProgramSource, found: Program, version: str | None) -> Program:
    if version is not None and found.version and found.version != version:
        raise UsageError(
            f"{found.folder} has {source.command} {found.version}, but version {version} was asked for; leave one out."
        )
    return found


def installed_program(source: ProgramSource, environ: Mapping[str, str]) -> Program | None:
    """The program that `PATH` names or that npm has installed globally, or None."""
    command = shutil.which(source.command, path=environ.get("PATH"))
    if command is not None:
        found = _at(source, Path(command), "installed")
        if found is not None:
            return found
    modules = _npm_modules(environ)
    return None if modules is None else _native_below(source, modules, "installed")


def _npm_modules(environ: Mapping[str, str]) -> Path | None:
    """The folder of npm's global packages, or None without npm."""
    npm = shutil.which("npm", path=environ.get("PATH"))
    if npm is None:
        return None
    try:
        done = subprocess.run(
            [npm, "root", "-g", *_NO_TRACES],
            env=dict(environ),
            capture_output=True,
            text=True,
            check=False,
            timeout=_SHORT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None  # an npm that does not work has installed nothing that can be found through it
    return Path(done.stdout.strip()) if done.returncode == 0 and done.stdout.strip() else None


def _at(source: ProgramSource, command: Path, origin: str) -> Program | None:
    """The native program that a file is, or that the npm package around it starts."""
    real = command.resolve()
    if _is_native(real):
        for folder in real.parents:
            if folder / source.entry == real and (folder / _DESCRIPTION).is_file():
                return _in_package(source, folder, origin)
        return Program(folder=real.parent, entry=real.name, version=_version_said(real), origin=origin)
    for folder in real.parents:
        found = _native_below(source, folder, origin)
        if found is not None or folder.name == "node_modules":
            return found
    return None


def _native_below(source: ProgramSource, folder: Path, origin: str) -> Program | None:
    """The native package that a folder is, or that is installed in one of the usual places in it."""
    for package in _places(source, folder):
        if _is_native(package / source.entry):
            return _in_package(source, package.resolve(), origin)
    return None


def _in_package(source: ProgramSource, package: Path, origin: str) -> Program:
    version = _version_of(source, package)
    return Program(folder=package, entry=source.entry, path=source.path, version=version, origin=origin)


def _places(source: ProgramSource, folder: Path) -> Iterator[Path]:
    yield folder
    for modules in (folder, folder / "node_modules", folder / "lib" / "node_modules"):
        yield modules / source.native
        yield modules / source.package / "node_modules" / source.native


def _is_native(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_ELF)) == _ELF
    except OSError:
        return False  # not there, a folder, or not to be read: not a program that can be used


def _version_of(source: ProgramSource, package: Path) -> str:
    """The version in a package's description, without the machine that some put behind it, else as the program says."""
    try:
        version = json.loads((package / _DESCRIPTION).read_text("utf-8"))["version"]
    except (OSError, ValueError, LookupError, TypeError):
        return _version_said(package / source.entry)
    return str(version).partition("-linux-")[0]


def _version_said(program: Path) -> str:
    """The version that a program says it has; empty when it does not say."""
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=False, timeout=_SHORT_SECONDS
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r"\d+(\.\d+)+\S*", done.stdout)
    return found[0] if found and done.returncode == 0 else ""


def _pinned(source: ProgramSource, version: str, home: Path, fetch: bool, say: Callable[[str], None]) -> Program:
    if platform.machine() not in ("x86_64", "amd64"):
        raise UsageError(
            f"{source.command} is fetched for x86-64 only, and this machine is {platform.machine()}; install "
            f"{source.package} with npm and name the program."
        )
    if version not in source.integrity:
        known = ", ".join(source.integrity)
        raise UsageError(
            f"{source.command} {version} is neither installed nor one of the pinned versions ({known}); install it "
            f"with `npm install -g {source.package}@{version}`."
        )
    folder = kept_in(home, source.name, version)
    program = Program(folder=folder, entry=source.entry, path=source.path, version=version, origin="pinned")
    if folder.exists():
        return program
    package = source.pack.format(version=version)
    npm_for(package)
    size = "{} MB, {} MB on disk".format(*source.megabytes[version])
    if not fetch:
        return dataclasses.replace(program, origin=f"not here; would be fetched ({size})", here=False)
    say(f"fetching {source.name} {version} ({size}) into {folder}")
    fetched(package, source.integrity[version], folder)
    return program
