"""Building for real: one small wheel, and everything that can go wrong on the way."""

import dataclasses
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_environments import TINY, MakeSpec, put_environment

from benchwright.core.errors import MachineError, UsageError
from benchwright.environments import (
    Environment,
    EnvSpec,
    State,
    build,
    list_environments,
    open_built,
    parse_spec,
)
from benchwright.environments.environment import MANIFEST_NAME, prefix_for


@pytest.fixture
def spec(six_lock: str) -> EnvSpec:
    """The tiny specification with its real lock."""
    return parse_spec(TINY, lambda name: six_lock)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 40 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", folder]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_the_package_is_there_and_nothing_else(tiny: Environment) -> None:
    """The environment holds what the lock says, in a Python of its own."""
    program = "import six, sys; print(six.__version__, sys.prefix)"
    done = subprocess.run([tiny.python, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1.17.0", str(tiny.prefix)]
    assert tiny.manifest.packages == ("six==1.17.0",)
    assert tiny.manifest.size_bytes > 0


def test_byte_code_is_compiled(tiny: Environment) -> None:
    """A read-only environment could not make it later."""
    assert list(tiny.prefix.glob("lib/python*/site-packages/__pycache__/six.*.pyc"))


def test_everything_is_readable_for_everyone(tiny: Environment) -> None:
    """A sandbox runs as an unprivileged user."""
    for path in (tiny.prefix, *tiny.prefix.rglob("*")):
        mode = path.lstat().st_mode
        wanted = 0o555 if stat.S_ISDIR(mode) else 0o444
        assert stat.S_ISLNK(mode) or mode & wanted == wanted, path


def test_a_second_build_opens_the_first(tiny: Environment, tiny_home: Path) -> None:
    """Nothing is run when the environment is there already."""
    lines: list[str] = []
    assert build(tiny.spec, home=tiny_home, report=lines.append) == tiny
    assert lines == []


def test_force_builds_anew(spec: EnvSpec, tmp_path: Path) -> None:
    """A good environment is replaced when asked for, a broken one without asking."""
    prefix = build(spec, home=tmp_path, report=lambda line: None).prefix
    (prefix / "stray").touch()
    lines: list[str] = []
    build(spec, home=tmp_path, report=lines.append, force=True)
    assert lines
    assert not (prefix / "stray").exists()
    (prefix / MANIFEST_NAME).write_text("{")
    build(spec, home=tmp_path, report=lines.append)
    assert [one.state for one in list_environments(tmp_path)] == [State.OTHER_LOCK]  # not shipped, but sound


def test_what_a_killed_build_left_is_replaced(spec: EnvSpec, tmp_path: Path) -> None:
    """A folder without manifest, as after kill -9, does not confuse the next build."""
    left = prefix_for(spec, tmp_path)
    (left / "bin").mkdir(parents=True)
    (left / "bin" / "python").write_text("half a file")
    environment = build(spec, home=tmp_path, report=lambda line: None)
    assert open_built(spec, tmp_path) == environment


def test_an_interrupt_leaves_nothing(spec: EnvSpec, tmp_path: Path) -> None:
    """Ctrl-C while packages are installed deletes what was begun and goes on upwards."""

    def interrupt(line: str) -> None:
        if "packages" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(spec, home=tmp_path, report=interrupt)
    assert list_environments(tmp_path) == ()
    with pytest.raises(UsageError, match="not built"):
        open_built(spec, tmp_path)


def test_a_lock_with_a_wrong_hash_is_refused(six_lock: str, tmp_path: Path) -> None:
    """A package whose bytes are not the pinned ones is not installed; the command is shown."""
    wrong = "six==1.17.0 --hash=sha256:" + "0" * 64 + "\n"
    with pytest.raises(MachineError, match=r"(?s)Could not install the packages.*pip install.*six"):
        build(parse_spec(TINY, lambda name: wrong), home=tmp_path, report=lambda line: None)
    assert list_environments(tmp_path) == ()


def test_a_full_disk_is_said_and_leaves_nothing(spec: EnvSpec, small_disk: Path) -> None:
    """When space runs out on the way, the message says so and no half environment stays."""
    with pytest.raises(MachineError, match="no space left on the disk"):
        build(dataclasses.replace(spec, size_mib=0), home=small_disk, report=lambda line: None)
    assert list_environments(small_disk) == ()


def test_too_little_space_is_said_before_anything_is_done(spec: EnvSpec, tmp_path: Path) -> None:
    """A build that cannot fit is refused at once, with both figures."""
    lines: list[str] = []
    with pytest.raises(MachineError, match="takes about 1000000000000 MiB, but only"):
        build(dataclasses.replace(spec, size_mib=10**12), home=tmp_path, report=lines.append)
    assert lines == []


def test_a_home_that_cannot_be_made_is_said(make_spec: MakeSpec, tmp_path: Path) -> None:
    """A file where the folder should be is named."""
    (tmp_path / "file").touch()
    with pytest.raises(MachineError, match="Could not make the folder"):
        build(make_spec(), home=tmp_path / "file", report=lambda line: None)


def test_an_environment_of_another_lock_stays(spec: EnvSpec, make_spec: MakeSpec, tmp_path: Path) -> None:
    """Building a new lock does not touch what an older version of the program may still use."""
    old = put_environment(make_spec(), tmp_path)
    new = build(spec, home=tmp_path, report=lambda line: None).prefix
    assert {one.prefix for one in list_environments(tmp_path)} == {old, new}
