"""Layers with one CPython each, copied from this machine to ``/opt/env``, where packages are then installed.

It is an installation of its own, as in conda's environments, and no virtual environment: that is found by the path a
Python is started with, and tox starts it by links elsewhere.

A copy leaves out what belongs to where it came from (installed packages, ``.pth`` files, library paths) and what no
test of a repository needs (its own test suite, Tk, static libraries), and is then started in a sandbox: one whose
extension modules lack a library there is not used.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.digest import digest_of, digest_of_bytes
from benchwright.core.errors import MachineError
from benchwright.core.execution import MIB
from benchwright.environments import commands
from benchwright.environments.interpreters import Interpreter, SearchPlaces, find_interpreter, find_uv, probe
from benchwright.environments.repositories.layers import (
    Draft,
    Layer,
    LayerKey,
    LayerKind,
    LayerStore,
    Made,
    remove_tree,
)
from benchwright.environments.repositories.sealing import set_times, shift_owners
from benchwright.sandboxes.base import Image, RunLimits, Sandbox, WorkspaceLimits

ENV = "/opt/env"
"""The interpreter's prefix inside; one layer of this kind belongs to a stack."""

NEEDED_MODULES = ("bz2", "ctypes", "curses", "hashlib", "lzma", "readline", "sqlite3", "ssl", "zlib")
"""Extension modules that every official environment has."""

LEFT_OUT = (
    "config-*/*.a",
    "ctypes/test",
    "distutils/tests",
    "idlelib",
    "lib-dynload/_tkinter.*",
    "lib2to3/tests",
    "sqlite3/test",
    "test/[!_s]*",
    "tkinter",
    "turtle*",
    "unittest/test",
)
"""Relative to ``lib/python3.x``; of ``test`` the package and ``test.support`` stay, which tests of others import."""

BUILD_FILES = ("_sysconfigdata*.py", "config-*/Makefile")
"""Files that say where the interpreter was built to be; builds of extension modules read them."""

DEBUGGING = re.compile(r"(?<=\s)-g\s")
"""Option with which pyenv's builds, unlike conda's, would compile extension modules: astropy's take 14 MiB with it."""

ORIGIN = b"$ORIGIN/../lib"

PROCEDURE = 1
"""Raised when the steps below make something else of the same interpreter."""

DEVIATIONS = (
    "CPython {version} of this machine ({source}) instead of conda's build",
    "Tk, IDLE and the interpreter's own test suite are not there",
)

CHECK_LIMITS = WorkspaceLimits(memory_bytes=1024 * MIB, processes=64, scratch_bytes=64 * MIB)

_CHECK = """
import json, sys
missing = {}
for name in sys.argv[1:]:
    try:
        __import__(name)
    except ImportError as error:
        missing[name] = str(error)
print(json.dumps({"version": "%d.%d.%d" % sys.version_info[:3], "prefix": sys.prefix, "missing": missing}))
"""

_LIBRARIES = """
import os, sys
for name in sorted(os.listdir(sys.argv[1])):
    try:
        __import__(name.split(".")[0])
    except Exception:
        pass
with open("/proc/self/maps") as maps:
    print("\\n".join(sorted({line.split(None, 5)[5].strip() for line in maps if ".so" in line and "/" in line})))
"""


class UnavailableError(MachineError):
    """No interpreter of a version can be had on this machine.

    Raised by `python_layer`; the builder lists the instances concerned as unavailable.
    """


class _UnfitError(MachineError):
    """An interpreter does not work in a sandbox; another one may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonPlaces:
    """Where interpreters are looked for, as a value so that a search can be pointed at a made-up machine."""

    environ: Mapping[str, str]
    """``HOME``, ``PYENV_ROOT`` and ``PATH`` count."""
    uv: Path | None
    micromamba: Path | None = None
    """Makes an interpreter of any version where conda's channels can be reached."""
    install: bool = False
    """Whether uv may download one."""


def python_places(environ: Mapping[str, str], *, install: bool = False) -> PythonPlaces:
    """The places of this machine."""
    micromamba = shutil.which("micromamba", path=environ.get("PATH", ""))
    return PythonPlaces(
        environ=environ,
        uv=find_uv(environ),
        micromamba=Path(micromamba) if micromamba else None,
        install=install,
    )


def built_pythons(store: LayerStore, rootfs: Layer, python: str) -> tuple[Layer, ...]:
    """The finished layers that hold such an interpreter for that root file system, the newest first."""
    found = [
        layer
        for layer in store.layers(LayerKind.PYTHON)
        if layer.manifest.lower == (rootfs.key.digest,) and fits(layer.key.name, python)
    ]
    return tuple(sorted(found, key=lambda layer: version_numbers(layer.key.name), reverse=True))


def describe_python(python: str, places: PythonPlaces) -> str:
    """The interpreter that a build would try first, such as ``pyenv 3.9.18``; empty when there is none."""
    found = next(iter(_interpreters(python, places)), None)
    if found is not None:
        return f"{found.source} {found.version}"
    return f"micromamba {python}" if places.micromamba is not None else ""


def python_layer(store: LayerStore, sandbox: Sandbox, rootfs: Layer, python: str, places: PythonPlaces) -> Layer:
    """The layer with an interpreter, made if there is none.

    Args:
        store: Where it is put.
        sandbox: In which it must start.
        rootfs: Over which it must start.
        python: ``3.9``, ``3.9.18``, or ``3`` for any.
        places: Where to look: pyenv's, uv's, those on ``PATH``, what uv may install, micromamba's.

    Raises `UnavailableError` when none is found or none of those found starts, with the reasons.
    """
    built = built_pythons(store, rootfs, python)
    if built:
        return built[0]
    refused = []
    for interpreter in _interpreters(python, places):
        try:
            return store.put(
                _key(interpreter, rootfs),
                lambda draft, one=interpreter: _make(draft, one, store, sandbox, rootfs),  # type: ignore[misc]
                lower=[rootfs],
            )
        except _UnfitError as error:
            refused.append(f"{interpreter.executable} ({interpreter.source}): {error}")
    if places.micromamba is not None:
        return _from_micromamba(store, sandbox, rootfs, python, places)
    raise UnavailableError(_none_usable(python, refused))


def fits(version: str, python: str) -> bool:
    """Whether a version such as ``3.9.18`` is what ``python`` asks for."""
    return version == python or version.startswith(f"{python}.")


def version_numbers(version: str) -> tuple[int, ...]:
    """For comparing versions."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version))


def _interpreters(python: str, places: PythonPlaces) -> Iterator[Interpreter]:
    """Every place's first choice, each installation once."""
    seen: set[Path] = set()
    for interpreter in _all_places(python, places):
        if fits(interpreter.version, python) and interpreter.executable not in seen:
            seen.add(interpreter.executable)
            yield interpreter


def _all_places(python: str, places: PythonPlaces) -> Iterator[Interpreter]:
    environ = places.environ
    home = {name: environ[name] for name in ("HOME", "PYENV_ROOT") if name in environ}
    exact = re.fullmatch(r"3\.\d+\.\d+", python)
    for root in [Path(home.get("PYENV_ROOT") or Path(home["HOME"], ".pyenv"))] if exact and home else ():
        found = probe(root / "versions" / python / "bin" / "python3", "pyenv")
        if found is not None:
            yield found
    wanted = ".".join(python.split(".")[:2]) if "." in python else ">=3.9"
    for uv, variables in ((None, home), (places.uv, dict(environ)), (None, {"PATH": environ.get("PATH", "")})):
        search = SearchPlaces(environ=variables, uv=uv)
        try:
            yield find_interpreter(wanted, search, install=places.install and uv is not None)
        except MachineError:
            continue  # none there; the next place may have one


def _key(interpreter: Interpreter, rootfs: Layer) -> LayerKey:
    libraries = sorted((interpreter.base_prefix / "lib").glob(f"libpython{interpreter.minor}*.so*"))
    files = [interpreter.executable, *libraries]
    inputs = {
        "version": interpreter.version,
        "files": [digest_of_bytes(path.read_bytes()) for path in files],
        "rootfs": rootfs.manifest.content.digest,
        "procedure": PROCEDURE,
    }
    return LayerKey(kind=LayerKind.PYTHON, name=interpreter.version, digest=digest_of(inputs))


def _make(draft: Draft, interpreter: Interpreter, store: LayerStore, sandbox: Sandbox, rootfs: Layer) -> Made:
    target = draft.folder / ENV.strip("/")
    _copy(interpreter, target)
    _forget_origin(interpreter, target)
    _compile(interpreter, target)
    shift_owners(draft.folder, store.owner)
    _check(draft.folder, interpreter.version, sandbox, rootfs)
    return Made(
        commands=(f"copy of {interpreter.base_prefix}",),
        versions=(("python", interpreter.version),),
        deviations=tuple(text.format(version=interpreter.version, source=interpreter.source) for text in DEVIATIONS),
        facts={"source": interpreter.source, "found_at": str(interpreter.base_prefix)},
    )


def _copy(interpreter: Interpreter, target: Path) -> None:
    prefix, name = interpreter.base_prefix, f"python{interpreter.minor}"
    (target / "bin").mkdir(parents=True)
    shutil.copy2(interpreter.executable, target / "bin" / name)
    for link in ("python3", "python"):
        (target / "bin" / link).symlink_to(name)
    _copy_folder(prefix / "lib" / name, target / "lib" / name)
    for pattern in LEFT_OUT:
        for path in list((target / "lib" / name).glob(pattern)):
            remove_tree(path)
    (target / "lib" / name / "site-packages").mkdir()
    for headers in (prefix / "include").glob(f"{name}*"):
        _copy_folder(headers, target / "include" / headers.name)
    for library in _libraries(interpreter):
        shutil.copy2(library, target / "lib" / library.name, follow_symlinks=False)


def _copy_folder(source: Path, target: Path) -> None:
    left_out = shutil.ignore_patterns("__pycache__", "*.pyc", "*.pyo", "site-packages")
    shutil.copytree(source, target, symlinks=True, ignore=left_out)


def _libraries(interpreter: Interpreter) -> set[Path]:
    """Shared libraries of the installation itself, with the links that lead to them."""
    folder = interpreter.base_prefix / "lib"
    dynload = folder / f"python{interpreter.minor}" / "lib-dynload"
    command: list[str | Path] = [interpreter.executable, "-I", "-c", _LIBRARIES, dynload]
    loaded = {Path(line).resolve() for line in commands.run(command, what="list its libraries").splitlines()}
    if folder == Path("/usr/lib"):
        return set()
    names = {*folder.glob(f"libpython{interpreter.minor}*.so*"), *folder.glob("libpython3.so")}
    names.update(path for path in folder.glob("*.so*") if path.resolve() in loaded)
    return names | {path.resolve() for path in names if path.resolve().parent == folder.resolve()}


def _forget_origin(interpreter: Interpreter, target: Path) -> None:
    """Replace the old place by the new one, where it would be used."""
    old = str(interpreter.base_prefix)
    library = target / "lib" / f"python{interpreter.minor}"
    for pattern in BUILD_FILES:
        for path in library.glob(pattern):
            text = path.read_text(encoding="utf-8", errors="surrogateescape").replace(old, ENV)
            path.write_text(DEBUGGING.sub("", text), encoding="utf-8", errors="surrogateescape")
    executable = target / "bin" / f"python{interpreter.minor}"
    executable.chmod(0o755)
    executable.write_bytes(_with_own_library_path(executable.read_bytes(), old))


def _with_own_library_path(program: bytes, prefix: str) -> bytes:
    """Overwrite the path of shared libraries that was linked in by one relative to the program, in place.

    The bytes of the string table are simply fewer than before; a prefix so short that they are not is left alone,
    and the check in the sandbox tells whether that matters.
    """
    old = os.fsencode(f"{prefix}/lib") + b"\0"
    if len(ORIGIN) >= len(old):
        return program
    return program.replace(b"\0" + old, b"\0" + ORIGIN.ljust(len(old), b"\0"))


def _compile(interpreter: Interpreter, target: Path) -> None:
    """Byte code for the standard library: without it each start in a fresh workspace would compile anew."""
    set_times(target)
    library = target / "lib" / f"python{interpreter.minor}"
    commands.run(
        [
            *(interpreter.executable, "-S", "-s", "-m", "compileall", "-q"),
            *("-d", f"{ENV}/lib/{library.name}", "-x", "bad_coding|badsyntax", library),
        ],
        what=f"compile the library of Python {interpreter.version}",
        environ={"PYTHONHASHSEED": "0", "PATH": os.defpath},
    )


def _check(folder: Path, version: str, sandbox: Sandbox, rootfs: Layer) -> None:
    image = Image(digest="", layers=(rootfs.path, folder), environ={"PATH": "/usr/bin:/bin"}, workdir="/")
    program = f"{ENV}/bin/python3"
    with sandbox.open(image, CHECK_LIMITS) as workspace:
        result = workspace.run(
            [program, "-I", "-c", _CHECK, *NEEDED_MODULES], limits=RunLimits(wall_seconds=60.0, output_bytes=MIB)
        )
    text = result.output.decode(errors="replace").strip()
    try:
        facts = json.loads(text.splitlines()[-1])
    except (ValueError, IndexError):
        raise _UnfitError(f"it does not start in a sandbox: {' '.join(text.split())[-300:]}") from None
    if facts["version"] != version or facts["prefix"] != ENV:
        raise _UnfitError(f"its copy says that it is Python {facts['version']} in {facts['prefix']}")
    if facts["missing"]:
        missing = "; ".join(f"{name} ({reason})" for name, reason in sorted(facts["missing"].items()))
        raise _UnfitError(f"in a sandbox it lacks {missing}")


def _from_micromamba(store: LayerStore, sandbox: Sandbox, rootfs: Layer, python: str, places: PythonPlaces) -> Layer:
    """An interpreter from conda-forge, in a folder that is removed again."""
    assert places.micromamba is not None
    prefix = store.root / "cache" / f"micromamba-{python}"
    remove_tree(prefix)
    command: list[str | Path] = [places.micromamba, "create", "--yes", "--prefix", prefix]
    command += ["--channel", "conda-forge", f"python={python}"]
    try:
        commands.run(command, what=f"get Python {python} with micromamba", environ=places.environ)
        found = probe(prefix / "bin" / "python3", "micromamba")
        if found is None:
            raise UnavailableError(f"The Python {python} that micromamba made does not start.")
        return store.put(_key(found, rootfs), lambda draft: _make(draft, found, store, sandbox, rootfs), lower=[rootfs])
    except UnavailableError:
        raise
    except MachineError as error:
        if not isinstance(error, _UnfitError) and commands.is_about_space(str(error)):
            raise
        raise UnavailableError(str(error)) from error
    finally:
        remove_tree(prefix)


def _none_usable(python: str, refused: list[str]) -> str:
    minor = ".".join(python.split(".")[:2])
    advice = f"Install one with `pyenv install {minor}` or `uv python install {minor}`, or micromamba beside uv."
    if not refused:
        return f"No Python {python} was found on this machine. {advice}"
    return f"No Python {python} of this machine can be used: {'; '.join(refused)}. {advice}"
