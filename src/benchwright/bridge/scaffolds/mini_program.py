"""A mini-swe-agent that runs in any Linux image of this machine's kind: with its own Python and its own C library.

The images of repository problems hold Pythons from 3.6 on, in which it cannot be installed, and C libraries older than
the one that this machine's Python needs.  So the Python is copied with every shared library it loads, and is started by
the copied loader, which the commands that the agent runs never see.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from benchwright.bridge.scaffolds.base import SHARED
from benchwright.bridge.scaffolds.programs import Program, kept_in
from benchwright.core.errors import MachineError, UsageError
from benchwright.environments import commands
from benchwright.environments.interpreters import Interpreter, find_interpreter, search_places

NAME = "mini-swe-agent"
PINNED = "2.2.3"
"""The version that inspect_swe is written for."""
PACKAGES_UNTIL = "2026-03-15"
"""Its requirements are taken as they were on that day."""
_SIZE = "about 115 MB fetched, 616 MB on disk"
"""Of the pinned version, whose requirements are nearly all of it."""
_PYTHONS = ">=3.11,<3.14"
_ENTRY = "bin/mini"
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "site-packages", "test", "tests", "idlelib", "tkinter", "config-*")
_TKINTER = "_tkinter*"
"""Extension module that loads half of a desktop."""
_LAUNCHER = """\
#!/bin/sh
here={here}
exec "$here/lib/{loader}" --library-path "$here/lib" "$here/python/bin/python" -P -B -X utf8 -c '
import sys
if sys.argv[1:] == ["--version"]:
    sys.exit(print("mini-swe-agent {version}"))
sys.path.insert(0, "{here}/site")
from minisweagent.run.mini import app
sys.argv[0] = "mini"
app()
' "$@"
"""


def mini_program(
    given: Path | None,
    version: str | None,
    environ: Mapping[str, str],
    home: Path,
    *,
    fetch: bool = True,
    say: Callable[[str], None] = lambda line: None,
) -> Program:
    """The program, built below the home folder if it is not there yet.

    Args:
        given: A folder that this function has built, elsewhere or on another machine.
        version: Of mini-swe-agent; None takes the pinned one.
        environ: Of this process, for finding a Python and for uv.
        home: Below it what was built is kept.
        fetch: Whether it may be built; if not, one that would have to be is not `Program.here`.
        say: Told of a build before it begins: what, how large, and where to.

    Raises `UsageError` for a folder that is none, and `MachineError` when it cannot be built: without a Python that
    fits, without uv, or without a registry of packages.
    """
    if given is not None:
        if not (given / _ENTRY).is_file():
            raise UsageError(f"{given} holds no {_ENTRY}; expected a folder such as {kept_in(home, NAME, PINNED)}.")
        return _program(given.absolute(), "given")
    version = version or PINNED
    folder = kept_in(home, NAME, version)
    if folder.exists():
        return _program(folder, "pinned")
    uv, interpreter = _tools(environ)
    if not fetch:
        origin = f"not here; would be built ({_SIZE})"
        return Program(folder=folder, entry=_ENTRY, version=version, origin=origin, here=False)
    say(f"building {NAME} {version} ({_SIZE}) in {folder}")
    _build(folder, version, environ, uv, interpreter)
    return _program(folder, "pinned")


def _program(folder: Path, origin: str) -> Program:
    text = (folder / _ENTRY).read_text("utf-8", errors="replace")
    said = re.search(r"mini-swe-agent ([^\"]+)", text)
    return Program(folder=folder, entry=_ENTRY, version=said[1] if said else "", origin=origin)


def _tools(environ: Mapping[str, str]) -> tuple[Path, Interpreter]:
    """The uv and the Python to build with."""
    places = search_places(environ)
    if places.uv is None:
        raise MachineError(f"{NAME} is installed with uv, which is not there; install uv.")
    return places.uv, find_interpreter(_PYTHONS, places)


def _build(folder: Path, version: str, environ: Mapping[str, str], uv: Path, interpreter: Interpreter) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".building-", dir=folder.parent) as name:
            draft = Path(name) / "draft"
            _copy_python(interpreter, draft / "python")
            _install(uv, interpreter, draft / "site", version, environ)
            _compile(interpreter, draft)
            loader = _copy_libraries(draft)
            launcher = draft / _ENTRY
            launcher.parent.mkdir()
            launcher.write_text(_LAUNCHER.format(here=f"{SHARED}/{NAME}", loader=loader, version=version), "utf-8")
            launcher.chmod(0o755)
            draft.chmod(0o755)
            draft.rename(folder)
    except OSError as error:
        raise MachineError(f"{NAME} cannot be built in {folder.parent} ({error.strerror or error}).") from error


def _copy_python(interpreter: Interpreter, target: Path) -> None:
    name = f"python{interpreter.minor}"
    (target / "bin").mkdir(parents=True)
    shutil.copy2(interpreter.executable, target / "bin" / "python")
    shutil.copytree(interpreter.base_prefix / "lib" / name, target / "lib" / name, ignore=_LEFT_OUT)
    for module in (target / "lib" / name).rglob(_TKINTER):
        module.unlink()


def _install(uv: Path, interpreter: Interpreter, target: Path, version: str, environ: Mapping[str, str]) -> None:
    options = ["--only-binary", ":all:", "--exclude-newer", PACKAGES_UNTIL, "--link-mode", "copy"]
    commands.run(
        [uv, "pip", "install", "--python", interpreter.executable, "--target", target, *options, f"{NAME}=={version}"],
        what=f"install {NAME}",
        environ=environ,
    )


def _compile(interpreter: Interpreter, draft: Path) -> None:
    """Compile everything once: inside it is read-only, and compiling takes 10 s of every sample."""
    options: list[str | Path] = ["-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "-s", draft]
    # Some packages bring templates that are no Python; they are named on the error's stream, and the status is 1.
    subprocess.run(
        [interpreter.executable, "-I", "-m", "compileall", *options, draft / "python", draft / "site"],
        capture_output=True,
        check=False,
    )


def _copy_libraries(draft: Path) -> str:
    """Copy every shared library that is loaded from outside; the name of the loader comes back."""
    binaries = [draft / "python/bin/python", *draft.rglob("*.so"), *draft.rglob("*.so.*")]
    listing = subprocess.run(["ldd", *binaries], capture_output=True, text=True, errors="replace", check=False).stdout
    libraries = {Path(found) for found in re.findall(r"(/\S+) \(0x", listing)}
    (draft / "lib").mkdir()
    for library in sorted(libraries):
        if not library.is_relative_to(draft):
            shutil.copy2(library, draft / "lib" / library.name)
    loaders = [library.name for library in libraries if library.name.startswith("ld-")]
    if not loaders:
        raise MachineError("`ldd` names no loader of this machine's Python, so that it cannot be taken elsewhere.")
    return loaders[0]
