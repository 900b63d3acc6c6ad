"""Finding the Python that an environment is built on: uv's own, pyenv's, the system's, whichever is there.

Nothing found is trusted by its name: each candidate is started once and says itself which version it is,
where it is installed and which shared libraries it needs, so that a sandbox can be given just those folders.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments import commands

OLDEST_MINOR, NEWEST_MINOR = 8, 20
"""Minor versions of Python 3 that a range is expanded to; the newest is only a bound for the search."""

PROBE_SECONDS = 20.0
"""A Python that has not answered by then (a shim waiting for something) is passed over."""

SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64", "/bin", "/sbin")
"""Folders every sandbox has anyway; libraries in them need no folder of their own."""

_PROBE = """
import json, os, sys
for name in ("ssl", "sqlite3", "ctypes", "lzma", "bz2", "zlib", "readline"):
    try:
        __import__(name)
    except ImportError:
        pass
libraries = set()
try:
    with open("/proc/self/maps") as maps:
        libraries = {line.split(None, 5)[5].strip() for line in maps if ".so" in line and "/" in line}
except OSError:
    pass
executable = getattr(sys, "_base_executable", None) or sys.executable
print(json.dumps({
    "version": "%d.%d.%d" % sys.version_info[:3],
    "implementation": sys.implementation.name,
    "executable": os.path.realpath(executable),
    "base_prefix": os.path.realpath(sys.base_prefix),
    "libraries": sorted(os.path.realpath(path) for path in libraries),
}))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpreter:
    """A Python installation (never a virtual environment) that answered when it was asked."""

    executable: Path
    """The real file, links resolved."""
    base_prefix: Path
    """Folder of the installation."""
    version: str
    """Such as ``3.10.13``."""
    source: str
    """Where it was found: ``this Python``, ``uv``, ``pyenv`` or ``PATH``."""
    readable_paths: tuple[Path, ...]
    """What must be readable for it to start: its installation and folders of shared libraries elsewhere."""

    @property
    def minor(self) -> str:
        """Such as ``3.10``."""
        return ".".join(self.version.split(".")[:2])


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlaces:
    """Where to look, as values, so that a search can be pointed at a made-up machine."""

    environ: Mapping[str, str]
    uv: Path | None
    """The uv command, or None to leave uv's Pythons out."""
    own: Path | None = None
    """A Python to try before all others when its version fits: usually the one running this."""


def search_places(environ: Mapping[str, str]) -> SearchPlaces:
    """The places of this machine: the Python running this, the ``uv`` command, pyenv and ``PATH``."""
    own = getattr(sys, "_base_executable", None) or sys.executable
    return SearchPlaces(environ=environ, uv=find_uv(environ), own=Path(own) if own else None)


def find_uv(environ: Mapping[str, str]) -> Path | None:
    """The uv command that belongs to the installed package, else the first on ``PATH``, else None."""
    try:
        from uv import find_uv_bin  # imported late: only building needs it

        return Path(find_uv_bin())
    except (ImportError, FileNotFoundError):
        return next(_on_path("uv", environ), None)


def minor_versions(python: str) -> tuple[str, ...]:
    """The minor versions a requirement allows, newest first: ``3.10`` or comparisons like ``>=3.11,<3.14``.

    Raises `UsageError` when it is neither.
    """
    if re.fullmatch(r"3\.\d+", python):
        return (python,)
    bounds = [re.fullmatch(r"\s*(>=|<=|<|>|!=)\s*3\.(\d+)\s*", part) for part in python.split(",")]
    if not all(bounds):
        raise UsageError(f"A Python version is written like '3.10' or '>=3.11,<3.14', not {python!r}.")
    tests = [(match[1], int(match[2])) for match in bounds if match]
    allowed = (n for n in range(NEWEST_MINOR, OLDEST_MINOR - 1, -1) if all(_holds(n, *test) for test in tests))
    return tuple(f"3.{n}" for n in allowed)


def find_interpreter(python: str, places: SearchPlaces, *, install: bool = False) -> Interpreter:
    """Find a CPython that fits ``python``, an exact minor version or a range.

    The Python running this comes first, then uv's, pyenv's and those on ``PATH``, newest first in each.
    With ``install`` uv may download one when none is there.  Raises `MachineError` when there is none, saying
    what was looked for, where, and what to do.
    """
    wanted = minor_versions(python)
    for source, executable in _candidates(wanted, places):
        found = probe(executable, source)
        if found is not None and found.minor in wanted:
            return found
    if install and places.uv is not None:
        return _install(wanted, places.uv, places)
    raise MachineError(_none_found(python, wanted, places))


def probe(executable: Path, source: str) -> Interpreter | None:
    """Ask a Python what it is; None when it does not answer or is not CPython."""
    try:
        done = subprocess.run(
            [executable, "-I", "-c", _PROBE],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
        facts = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if not isinstance(facts, dict) or facts.get("implementation") != "cpython":
        return None
    base = Path(facts["base_prefix"])
    return Interpreter(
        executable=Path(facts["executable"]),
        base_prefix=base,
        version=facts["version"],
        source=source,
        readable_paths=_readable_paths(base, [Path(path) for path in facts["libraries"]]),
    )


def _readable_paths(base: Path, libraries: list[Path]) -> tuple[Path, ...]:
    covered = (base, *map(Path, SYSTEM_FOLDERS))
    outside = {path.parent for path in libraries if not any(path.is_relative_to(one) for one in covered)}
    return (base, *sorted(outside))


def _holds(minor: int, comparison: str, bound: int) -> bool:
    match comparison:
        case ">=":
            return minor >= bound
        case "<=":
            return minor <= bound
        case "<":
            return minor < bound
        case ">":
            return minor > bound
        case _:
            return minor != bound


def _candidates(wanted: tuple[str, ...], places: SearchPlaces) -> Iterator[tuple[str, Path]]:
    if places.own is not None:
        yield "this Python", places.own
    for minor in wanted:
        yield from (("uv", path) for path in _from_uv(minor, places))
    for minor in wanted:
        yield from (("pyenv", path) for path in _from_pyenv(minor, places.environ))
    for minor in wanted:
        yield from (("PATH", path) for path in _on_path(f"python{minor}", places.environ))


def _from_uv(minor: str, places: SearchPlaces) -> Iterator[Path]:
    if places.uv is None:
        return
    options = ["--no-python-downloads", "--python-preference", "only-managed", "--system", "--no-project"]
    try:
        found = commands.run(
            [places.uv, "python", "find", *options, minor],
            what="ask uv for its Pythons",
            environ=places.environ,
            timeout=PROBE_SECONDS,
        )
    except MachineError:
        return  # uv's way to say that it has none
    if found.strip():
        yield Path(found.strip())


def _from_pyenv(minor: str, environ: Mapping[str, str]) -> Iterator[Path]:
    for root in _pyenv_roots(environ):
        versions = root.joinpath("versions").glob(f"{minor}.*/bin/python{minor}")
        yield from sorted(versions, key=lambda path: _numbers(path.parents[1].name), reverse=True)


def _pyenv_roots(environ: Mapping[str, str]) -> tuple[Path, ...]:
    roots = [Path(environ["PYENV_ROOT"])] if environ.get("PYENV_ROOT") else []
    if environ.get("HOME"):
        roots.append(Path(environ["HOME"]) / ".pyenv")
    return tuple(dict.fromkeys(roots))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", version))


def _on_path(name: str, environ: Mapping[str, str]) -> Iterator[Path]:
    for folder in environ.get("PATH", "").split(":"):
        if folder and (path := Path(folder) / name).is_file():
            yield path


def _install(wanted: tuple[str, ...], uv: Path, places: SearchPlaces) -> Interpreter:
    minor = wanted[-1]  # the oldest allowed surely exists, which the end of an open range may not
    commands.run([uv, "python", "install", minor], what=f"install Python {minor}", environ=places.environ)
    for path in _from_uv(minor, places):
        found = probe(path, "uv")
        if found is not None:
            return found
    raise MachineError(f"uv installed Python {minor}, but it does not start; try `uv python install {minor}` by hand.")


def _none_found(python: str, wanted: tuple[str, ...], places: SearchPlaces) -> str:
    pyenv = " and ".join(str(root / "versions") for root in _pyenv_roots(places.environ)) or "no pyenv folder"
    uv = "uv's own Pythons" if places.uv else "no uv command"
    minor = wanted[-1] if wanted else python
    return (
        f"No Python {python} was found (looked at: {uv}; {pyenv}; python{minor} on PATH). "
        f"Install one with `uv python install {minor}`, `pyenv install {minor}` or the system's packages."
    )
