"""Finding a Python: the order of places, and what is said when there is none."""

import json
import os
import sys
from pathlib import Path

import pytest
from made_environments import HOST_MINOR, script

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments import find_interpreter, search_places
from benchwright.environments.interpreters import SearchPlaces, minor_versions, probe


def fake_python(path: Path, version: str, *, implementation: str = "cpython", libraries: tuple[str, ...] = ()) -> Path:
    """A script that answers the probe like a Python of that version installed two folders up."""
    facts = {
        "version": version,
        "implementation": implementation,
        "executable": str(path),
        "base_prefix": str(path.parents[1]),
        "libraries": list(libraries),
    }
    return script(path, f"echo '{json.dumps(facts)}'")


def places(tmp_path: Path, *, uv: Path | None = None, own: Path | None = None) -> SearchPlaces:
    """A made-up machine: pyenv and PATH below the test's folder."""
    environ = {
        "PYENV_ROOT": str(tmp_path / "pyenv"),
        "HOME": str(tmp_path),
        "PATH": f"{tmp_path / 'bin'}:/bin:/usr/bin",
    }
    return SearchPlaces(environ=environ, uv=uv, own=own)


@pytest.mark.parametrize(
    ("python", "minors"),
    [
        ("3.10", ("3.10",)),
        (">=3.11,<3.14", ("3.13", "3.12", "3.11")),
        (">3.11, <=3.13, !=3.12", ("3.13",)),
    ],
)
def test_a_requirement_is_an_exact_version_or_a_range(python: str, minors: tuple[str, ...]) -> None:
    """Ranges give the newest minor version first."""
    assert minor_versions(python) == minors


@pytest.mark.parametrize("python", ["", "3", "three", "~=3.10", ">=3.11,"])
def test_another_spelling_is_refused(python: str) -> None:
    """What is neither is a usage error that shows both spellings."""
    with pytest.raises(UsageError, match=r"like '3\.10' or '>=3\.11,<3\.14'"):
        minor_versions(python)


def test_the_order_is_own_then_uv_then_pyenv_then_path(tmp_path: Path) -> None:
    """With a Python in each place, taking away the first brings up the next."""
    own = fake_python(tmp_path / "own" / "bin" / "python3", "3.10.1")
    managed = fake_python(tmp_path / "managed" / "bin" / "python3.10", "3.10.2")
    uv = script(tmp_path / "uv", f"echo {managed}")
    pyenv = fake_python(tmp_path / "pyenv" / "versions" / "3.10.3" / "bin" / "python3.10", "3.10.3")
    fake_python(tmp_path / "bin" / "python3.10", "3.10.4")

    found = [find_interpreter("3.10", places(tmp_path, uv=uv, own=own))]
    found.append(find_interpreter("3.10", places(tmp_path, uv=uv)))
    found.append(find_interpreter("3.10", places(tmp_path)))
    pyenv.unlink()
    found.append(find_interpreter("3.10", places(tmp_path)))

    assert [(one.source, one.version) for one in found] == [
        ("this Python", "3.10.1"),
        ("uv", "3.10.2"),
        ("pyenv", "3.10.3"),
        ("PATH", "3.10.4"),
    ]


def test_pyenv_gives_its_newest_patch_release(tmp_path: Path) -> None:
    """3.10.13 is newer than 3.10.9 although it sorts before it as text."""
    for version in ("3.10.9", "3.10.13"):
        fake_python(tmp_path / "pyenv" / "versions" / version / "bin" / "python3.10", version)
    assert find_interpreter("3.10", places(tmp_path)).version == "3.10.13"


def test_a_candidate_that_does_not_fit_is_passed_over(tmp_path: Path) -> None:
    """A shim that fails, a program that talks nonsense, PyPy and a wrong version are not taken."""
    fake_python(tmp_path / "own" / "bin" / "python3", "3.12.0")
    script(tmp_path / "pyenv" / "versions" / "3.10.1" / "bin" / "python3.10", "echo not found >&2; exit 127")
    script(tmp_path / "pyenv" / "versions" / "3.10.2" / "bin" / "python3.10", "echo hello")
    fake_python(tmp_path / "pyenv" / "versions" / "3.10.3" / "bin" / "python3.10", "3.10.3", implementation="pypy")
    good = fake_python(tmp_path / "bin" / "python3.10", "3.10.4")
    found = find_interpreter("3.10", places(tmp_path, own=tmp_path / "own" / "bin" / "python3"))
    assert found.executable == good


def test_libraries_outside_the_installation_are_readable_paths(tmp_path: Path) -> None:
    """Folders of shared libraries that neither the installation nor the system covers are named."""
    python = tmp_path / "python" / "bin" / "python3.10"
    inside, elsewhere = str(python.parents[1] / "lib" / "libpython3.10.so"), "/nix/store/ssl/lib/libssl.so"
    fake_python(python, "3.10.1", libraries=(inside, elsewhere, "/usr/lib/libc.so.6"))
    found = probe(python, "PATH")
    assert found is not None
    assert found.readable_paths == (python.parents[1], Path("/nix/store/ssl/lib"))


def test_uv_may_install_one_when_asked(tmp_path: Path) -> None:
    """Nothing is downloaded unless asked for; then uv's new Python is used."""
    managed = tmp_path / "managed" / "bin" / "python3.10"
    fake_python(tmp_path / "prepared", "3.10.7")
    uv = script(
        tmp_path / "uv",
        f"mkdir -p {managed.parent}\n"
        f'if [ "$2" = install ]; then cp {tmp_path}/prepared {managed}; exit 0; fi\n'
        f"[ -e {managed} ] && echo {managed}",
    )
    with pytest.raises(MachineError):
        find_interpreter("3.10", places(tmp_path, uv=uv))
    assert find_interpreter("3.10", places(tmp_path, uv=uv), install=True).version == "3.10.7"


def test_none_found_says_what_where_and_what_to_do(tmp_path: Path) -> None:
    """The message names the version, the places and three ways to get one."""
    with pytest.raises(MachineError) as caught:
        find_interpreter("3.10", places(tmp_path))
    message = str(caught.value)
    for part in (
        "No Python 3.10",
        str(tmp_path / "pyenv" / "versions"),
        "no uv command",
        "`pyenv install 3.10`",
    ):
        assert part in message


def test_the_interpreter_of_a_virtual_environment_leads_to_its_installation() -> None:
    """Asked through a virtual environment, a Python gives the real file and the real installation."""
    found = probe(Path(sys.executable), "PATH")
    assert found is not None
    assert found.minor == HOST_MINOR
    assert found.base_prefix == Path(sys.base_prefix).resolve()
    assert found.executable.is_relative_to(found.base_prefix)


def test_this_machine_has_the_python_running_the_tests() -> None:
    """The real search finds what is plainly there."""
    assert find_interpreter(HOST_MINOR, search_places(os.environ)).source == "this Python"
