"""Layers with interpreters: copied, cleaned of where they came from, started before they are used."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from made_layers import ScriptedSandbox, ScriptedWorkspace, make_key, make_store, put_files

from benchwright.core.errors import MachineError
from benchwright.environments.repositories.layers import Layer, LayerKind, LayerStore
from benchwright.environments.repositories.pythons import (
    PythonPlaces,
    UnavailableError,
    built_pythons,
    describe_python,
    fits,
    python_layer,
    python_places,
)

VERSION = ".".join(map(str, sys.version_info[:3]))
MINOR = ".".join(map(str, sys.version_info[:2]))
PREFIX = Path(sys.base_prefix)

own_prefix = pytest.mark.skipif(PREFIX in (Path("/usr"), Path("/")), reason="this Python has no folder of its own")


def start_answer(version: str = VERSION, **missing: str) -> Callable[[str, ScriptedWorkspace], tuple[int, str]]:
    """A sandbox in which the interpreter says this of itself."""
    facts = {"version": version, "prefix": "/opt/env", "missing": missing}
    return lambda script, workspace: (0, json.dumps(facts))


def path_places(folder: Path) -> PythonPlaces:
    """Only this Python, found on ``PATH``."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / f"python{MINOR}").symlink_to(Path(sys.executable).resolve())
    return PythonPlaces(environ={"PATH": str(folder / "bin")}, uv=None)


def rootfs_of(store: LayerStore) -> Layer:
    """A root file system with nothing in it."""
    return put_files(store, make_key("debian", kind=LayerKind.ROOTFS), {"etc/hosts": ""})


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Layer:
    """The layer of the Python that runs the tests; made once."""
    base = tmp_path_factory.mktemp("pythons")
    store = make_store(base / "home")
    return python_layer(store, ScriptedSandbox(start_answer()), rootfs_of(store), MINOR, path_places(base))


@own_prefix
def test_the_copy_starts_where_it_is(copied: Layer) -> None:
    """It runs from its new place, knows its own library, and looks for nothing where it came from."""
    python = copied.path / "opt/env/bin/python3"
    done = subprocess.run(
        [
            python,
            "-c",
            "import json, sys, sysconfig; print(sys.prefix, json.__cached__, sysconfig.get_config_var('prefix'))",
        ],
        capture_output=True,
        text=True,
        env={},
    )
    assert done.returncode == 0, done.stderr
    prefix, cached, _ = done.stdout.split()
    assert prefix == str(copied.path / "opt/env")
    assert Path(cached).is_file()


@own_prefix
def test_the_copy_leaves_out_what_is_not_its_own(copied: Layer) -> None:
    """No packages, no path files, no test suite, no static library; the origin is not named in build files."""
    library = copied.path / "opt/env/lib" / f"python{MINOR}"
    assert list((library / "site-packages").iterdir()) == []
    assert not (library / "test" / "test_os.py").exists()
    assert (library / "ensurepip").is_dir()
    assert list(library.rglob("*.a")) == []
    for path in library.glob("_sysconfigdata*.py"):
        assert str(PREFIX) not in path.read_text()
        assert " -g " not in path.read_text()


@own_prefix
def test_the_copys_byte_code_is_current(copied: Layer) -> None:
    """Every compiled module remembers the time that its source has in the finished layer."""
    library = copied.path / "opt/env/lib" / f"python{MINOR}"
    compiled = (library / "__pycache__" / f"os.cpython-{MINOR.replace('.', '')}.pyc").read_bytes()
    assert int.from_bytes(compiled[8:12], "little") == int((library / "os.py").stat().st_mtime)


@own_prefix
def test_an_interpreter_is_taken_from_the_store(copied: Layer) -> None:
    """What is built is found by minor and by whole version, not by another one, and built no second time."""
    store = make_store(copied.path.parents[1])
    rootfs = next(layer for layer in store.layers() if layer.key.kind is LayerKind.ROOTFS)
    assert built_pythons(store, rootfs, MINOR) == (copied,)
    assert built_pythons(store, rootfs, VERSION) == (copied,)
    assert built_pythons(store, rootfs, "3") == (copied,)
    assert built_pythons(store, rootfs, "3.1") == ()
    nothing = PythonPlaces(environ={}, uv=None)
    assert python_layer(store, ScriptedSandbox(start_answer()), rootfs, MINOR, nothing) == copied
    other = put_files(store, make_key("other", kind=LayerKind.ROOTFS, digest="c"), {"etc/x": ""})
    assert built_pythons(store, other, MINOR) == ()


@own_prefix
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (start_answer(ssl="libssl.so.1.1: cannot open shared object file"), "lacks ssl .libssl.so.1.1"),
        (start_answer(version="3.0.0"), "says that it is Python 3.0.0"),
        (lambda script, workspace: (127, "version `GLIBC_2.99' not found"), "GLIBC_2.99"),
        (lambda script, workspace: (1, ""), "does not start"),
    ],
    ids=["library", "version", "glibc", "silent"],
)
def test_an_interpreter_that_does_not_work_inside_is_refused(
    answer: Callable[[str, ScriptedWorkspace], tuple[int, str]], reason: str, tmp_path: Path
) -> None:
    """The reason is told, and the layer does not stay."""
    store = make_store(tmp_path / "home")
    with pytest.raises(UnavailableError, match=reason):
        python_layer(store, ScriptedSandbox(answer), rootfs_of(store), MINOR, path_places(tmp_path))
    assert [layer.key.kind for layer in store.layers()] == [LayerKind.ROOTFS]


def test_what_is_nowhere_is_unavailable(tmp_path: Path) -> None:
    """The message says what to install."""
    store = make_store(tmp_path)
    nothing = PythonPlaces(environ={"PATH": str(tmp_path)}, uv=None)
    with pytest.raises(UnavailableError, match=r"No Python 3\.5 was found.*pyenv install 3\.5"):
        python_layer(store, ScriptedSandbox(start_answer()), rootfs_of(store), "3.5", nothing)
    assert issubclass(UnavailableError, MachineError)
    assert describe_python("3.5", nothing) == ""


@own_prefix
def test_micromamba_is_the_last_resort(tmp_path: Path) -> None:
    """It makes the interpreter in a folder that is removed again."""
    fake = tmp_path / "micromamba"
    fake.write_text(
        "#!/bin/sh\nset -e\n"
        f'[ "$1" = create ] && [ "$3" = --prefix ] && mkdir -p "$4/bin"\n'
        f'echo "$@" > {tmp_path}/arguments\n'
        f'tar -C {PREFIX} --exclude=site-packages --exclude=test -cf - lib | tar -C "$4" -xf -\n'
        f'cp {Path(sys.executable).resolve()} "$4/bin/python3"\n'
    )
    fake.chmod(0o755)
    store = make_store(tmp_path / "home")
    places = PythonPlaces(environ={"PATH": "/usr/bin:/bin"}, uv=None, micromamba=fake)
    layer = python_layer(store, ScriptedSandbox(start_answer()), rootfs_of(store), MINOR, places)
    assert layer.manifest.made.facts["source"] == "micromamba"
    assert f"python={MINOR}" in (tmp_path / "arguments").read_text()
    assert list((store.root / "cache").iterdir()) == []
    assert describe_python("3.5", places) == "micromamba 3.5"


def test_micromamba_that_fails_makes_it_unavailable(tmp_path: Path) -> None:
    """Without a network the version cannot be had; that is no failure of the environment."""
    fake = tmp_path / "micromamba"
    fake.write_text("#!/bin/sh\necho 'Could not resolve host: conda.anaconda.org' >&2\nexit 1\n")
    fake.chmod(0o755)
    store = make_store(tmp_path / "home")
    places = PythonPlaces(environ={"PATH": "/usr/bin:/bin"}, uv=None, micromamba=fake)
    with pytest.raises(UnavailableError, match="Could not resolve host"):
        python_layer(store, ScriptedSandbox(start_answer()), rootfs_of(store), "3.5", places)


def test_places_of_this_machine_are_values() -> None:
    """They are read off the given variables alone."""
    places = python_places({"PATH": "/nonexistent"}, install=True)
    assert places.micromamba is None
    assert places.install


@pytest.mark.parametrize(
    ("version", "python", "answer"),
    [("3.9.18", "3.9", True), ("3.9.18", "3.9.18", True), ("3.9.18", "3", True), ("3.9.18", "3.9.1", False)],
)
def test_versions_fit_by_their_parts(version: str, python: str, answer: bool) -> None:
    """``3.9.1`` is no beginning of ``3.9.18``."""
    assert fits(version, python) is answer
