"""What the checks of live sandboxes do again and again: calls in few words, and waiting with an end."""

import posixpath
import tarfile
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchwright.core.execution import MIB
from benchwright.sandboxes.base import LiveProcess, LiveResult, LiveWorkspace, RunLimits, WorkspaceLimits

LIMITS = WorkspaceLimits(memory_bytes=256 * MIB, processes=64, scratch_bytes=64 * MIB)
SECONDS = 60.0
"""For what takes milliseconds on a quiet machine."""


def start(
    workspace: LiveWorkspace,
    script: str,
    *,
    seconds: float = SECONDS,
    output_bytes: int = 64 * MIB,
    environ: Mapping[str, str] | None = None,
    cwd: str | None = None,
    user: str | None = None,
    merged: bool = False,
) -> LiveProcess:
    """Start a script of the shell."""
    limits = RunLimits(wall_seconds=seconds, output_bytes=output_bytes)
    return workspace.start(["sh", "-c", script], limits=limits, environ=environ, cwd=cwd, user=user, merged=merged)


def shell(workspace: LiveWorkspace, script: str, **options: Any) -> LiveResult:
    """Run a script of the shell to its end; options are those of `start`."""
    return start(workspace, script, **options).wait()


def run(workspace: LiveWorkspace, command: Sequence[str], *, seconds: float = SECONDS, **options: Any) -> LiveResult:
    """Run a command to its end; options are those of `LiveWorkspace.start`."""
    return workspace.start(command, limits=RunLimits(wall_seconds=seconds), **options).wait()


def tree(workspace: LiveWorkspace, path: str) -> tuple[dict[str, tarfile.TarInfo], dict[str, bytes]]:
    """Members by name, and contents of the regular files."""
    with tempfile.TemporaryFile() as file:
        workspace.tree(path, file)
        file.seek(0)
        members, contents = {}, {}
        with tarfile.open(fileobj=file, mode="r:") as archive:
            for member in archive:
                name = posixpath.normpath(member.name)
                if name == ".":
                    continue
                assert name not in members, f"a tree has {name} twice"
                assert not name.startswith(("/", "../")), f"a name in a tree is not relative to its folder: {name}"
                members[name] = member
                data = archive.extractfile(member) if member.isreg() else None
                if data is not None:
                    contents[name] = data.read()
    return members, contents


def count_processes(workspace: LiveWorkspace, word: str) -> int:
    """How many processes inside, besides zombies, have a word in their command line."""
    program = (
        "import glob, os, sys\ncount = 0\nfor path in glob.glob('/proc/[0-9]*/cmdline'):\n    try:\n"
        "        count += sys.argv[1].encode() in open(path, 'rb').read() and int(path.split('/')[2]) != os.getpid()\n"
        "    except OSError: pass\nprint(count)"
    )
    return int(run(workspace, ["python3", "-c", program, word]).stdout)


def wait_for_file(workspace: LiveWorkspace, path: str) -> None:
    """Wait until there is a file."""
    until(lambda: workspace.get(path) is not None, f"{path} was not written")


def wait_for_change(workspace: LiveWorkspace, path: str, what: str) -> None:
    """Wait until a file has another content; ``what`` says what is broken if it never has."""
    before = workspace.get(path)
    until(lambda: workspace.get(path) not in (before, b"", None), what)


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait until something is true; ``what`` says what is broken if it never is."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)
