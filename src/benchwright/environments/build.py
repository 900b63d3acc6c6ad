"""Building an environment: a virtual environment at its final place, locked packages, data, warm caches.

The folder is made where it stays, because scripts and byte code hold absolute paths.  The manifest is written
last, in one step, and a folder without manifest counts as not built; so a build may die at any point, and the
next one deletes what it left.
"""

import datetime
import errno
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.errors import MachineError, UsageError
from benchwright.core.execution import MIB
from benchwright.environments import commands
from benchwright.environments.data import install_data
from benchwright.environments.environment import (
    MANIFEST_NAME,
    Environment,
    Manifest,
    delete,
    exclusive,
    open_built,
    prefix_for,
)
from benchwright.environments.interpreters import Interpreter, find_interpreter, find_uv, search_places
from benchwright.environments.spec import EnvSpec

Report = Callable[[str], None]
"""Takes one line saying what is done now."""

OWN_VARIABLES = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "CONDA_PREFIX", "UV_PYTHON", "UV_SYSTEM_PYTHON")
"""Variables of the caller that would lead uv or Python into another environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tools:
    """What every step of one build uses."""

    spec: EnvSpec
    prefix: Path
    interpreter: Interpreter
    uv: Path
    environ: Mapping[str, str]
    report: Report

    @property
    def python(self) -> Path:
        return self.prefix / "bin" / "python"


def build(
    spec: EnvSpec,
    *,
    home: Path,
    report: Report,
    environ: Mapping[str, str] = os.environ,
    force: bool = False,
    install_python: bool = False,
) -> Environment:
    """Build the environment, or open it when it is there already; afterwards `open_built` finds it.

    Args:
        spec: What to build.
        home: The folder of `default_home`; made when it is not there.
        report: Called with one line per step.
        environ: Variables for the commands (proxies, registry settings) and the search for a Python.
        force: Build anew even when a good one is there, which is deleted first.
        install_python: Let uv download a Python when the machine has none that fits.

    Two builds of the same environment wait for each other.  Raises `MachineError` when no Python or no uv is
    found, a command fails, or the disk is full; what was half built is deleted.
    """
    prefix = prefix_for(spec, home)
    _make_home(prefix.parent)
    with exclusive(prefix, wait=True):
        ready = None if force else _ready(spec, home)
        if ready is not None:
            return ready
        uv = find_uv(environ)
        if uv is None:
            raise MachineError("The command uv was not found; install it with `pip install uv`.")
        interpreter = find_interpreter(spec.python, search_places(environ), install=install_python)
        if prefix.exists():
            delete(prefix)
        _require_space(spec, prefix.parent)
        clean = {key: value for key, value in environ.items() if key not in OWN_VARIABLES}
        tools = _Tools(spec=spec, prefix=prefix, interpreter=interpreter, uv=uv, environ=clean, report=report)
        _build_or_clean_up(tools)
        return open_built(spec, home)


def _make_home(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MachineError(f"Could not make the folder {folder} ({error.strerror}); set BENCHWRIGHT_HOME.") from error


def _ready(spec: EnvSpec, home: Path) -> Environment | None:
    try:
        return open_built(spec, home)
    except UsageError:
        return None  # not built, not finished or damaged: each is mended by building


def _require_space(spec: EnvSpec, folder: Path) -> None:
    free = shutil.disk_usage(folder).free // MIB
    if free < spec.size_mib:
        raise MachineError(
            f"The environment {spec.name} takes about {spec.size_mib} MiB, but only {free} MiB are free in "
            f"{folder}; free some space, or set BENCHWRIGHT_HOME to a larger disk."
        )


def _build_or_clean_up(tools: _Tools) -> None:
    try:
        _build(tools)
    except OSError as error:
        _clean_up(tools.prefix)
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise MachineError(commands.no_space_left(f"build {tools.spec.name}")) from error
        raise MachineError(f"Could not build {tools.spec.name}: {error}.") from error
    except BaseException:  # also an interrupt: a half-built folder is of no use to anyone
        _clean_up(tools.prefix)
        raise


def _clean_up(prefix: Path) -> None:
    if prefix.exists():
        shutil.rmtree(prefix, ignore_errors=True)  # what stays has no manifest, and the next build deletes it


def _build(tools: _Tools) -> None:
    started = time.monotonic()
    _make_virtual_environment(tools)
    _install_packages(tools)
    data = install_data(tools.spec.data, tools.prefix, tools.environ, tools.report)
    _warm_font_cache(tools)
    _make_world_readable(tools.prefix)
    manifest = Manifest(
        name=tools.spec.name,
        spec_digest=tools.spec.digest,
        python_version=tools.interpreter.version,
        executable=tools.interpreter.executable,
        base_prefix=tools.interpreter.base_prefix,
        readable_paths=tools.interpreter.readable_paths,
        packages=_frozen(tools),
        data=data,
        built=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - started, 1),
        size_bytes=_size(tools.prefix),
    )
    _write_at_once(tools.prefix / MANIFEST_NAME, manifest.to_json())
    tools.report(f"{tools.spec.name} is ready ({manifest.size_bytes // MIB} MiB in {manifest.seconds:.0f} s)")


def _make_virtual_environment(tools: _Tools) -> None:
    interpreter = tools.interpreter
    tools.report(f"virtual environment with Python {interpreter.version} ({interpreter.source})")
    _uv(
        tools,
        ["venv", "--no-project", "--python", interpreter.executable, tools.prefix],
        "make a virtual environment",
    )


def _install_packages(tools: _Tools) -> None:
    spec = tools.spec
    tools.report(f"{len(spec.packages)} packages, about {spec.size_mib} MiB ({spec.download_mib} MiB to download)")
    with tempfile.TemporaryDirectory() as folder:
        lock, constraints = Path(folder, spec.lock), Path(folder, "build-constraints.txt")
        lock.write_text(spec.lock_text, encoding="utf-8")
        constraints.write_text("".join(f"{line}\n" for line in spec.build_constraints), encoding="utf-8")
        options: list[str | Path] = [
            "--require-hashes",
            "--compile-bytecode",
            "--build-constraints",
            constraints,
            "-r",
            lock,
        ]
        _uv(tools, ["pip", "install", "--python", tools.python, *options], "install the packages")


def _warm_font_cache(tools: _Tools) -> None:
    if any(package.startswith("matplotlib==") for package in tools.spec.packages):
        tools.report("matplotlib's font cache")
        cache = {"MPLCONFIGDIR": str(tools.prefix / "cache" / "matplotlib"), "MPLBACKEND": "Agg"}
        command: list[str | Path] = [tools.python, "-c", "import matplotlib.font_manager"]
        commands.run(command, what="make matplotlib's font cache", environ={**tools.environ, **cache})


def _frozen(tools: _Tools) -> tuple[str, ...]:
    lines = _uv(tools, ["pip", "freeze", "--python", tools.python], "list the packages").split("\n")
    return tuple(sorted(line for line in lines if line))


def _uv(tools: _Tools, arguments: Sequence[str | Path], what: str) -> str:
    return commands.run([tools.uv, *arguments], what=what, environ=tools.environ)


def _make_world_readable(prefix: Path) -> None:
    """Let a sandbox's unprivileged user read everything, even what a cache kept under a strict umask."""
    for path in _tree(prefix):
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            continue
        wanted = 0o055 if stat.S_ISDIR(mode) or mode & stat.S_IXUSR else 0o044
        if mode & wanted != wanted:
            path.chmod(stat.S_IMODE(mode) | wanted)


def _tree(prefix: Path) -> Iterator[Path]:
    yield prefix
    for folder, names, files in os.walk(prefix):
        yield from (Path(folder, name) for name in (*names, *files))


def _size(prefix: Path) -> int:
    return sum(path.lstat().st_size for path in _tree(prefix))


def _write_at_once(path: Path, text: str) -> None:
    partial = path.with_name(path.name + ".partial")
    with partial.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.chmod(0o644)
    partial.replace(path)
