"""What the tests of live workspaces call again and again, besides `benchwright.testing.live_calls`."""

import io
import tarfile
from typing import Any

import pytest

from benchwright.sandboxes.base import LiveProcess, LiveResult, LiveWorkspace, RunLimits
from benchwright.sandboxes.users import user_mapping
from benchwright.testing.live_calls import SECONDS

as_root = pytest.mark.skipif(not user_mapping().ranged, reason="only root has a range of user ids")


def start_python(workspace: LiveWorkspace, program: str, *, seconds: float = SECONDS, **options: Any) -> LiveProcess:
    """Start a program."""
    return workspace.start(["python3", "-c", program], limits=RunLimits(wall_seconds=seconds), **options)


def python(workspace: LiveWorkspace, program: str, **options: Any) -> LiveResult:
    """Run a program to its end."""
    return start_python(workspace, program, **options).wait()


def archive_of(workspace: LiveWorkspace, path: str = "/testbed") -> tarfile.TarFile:
    """A folder's archive, open for reading."""
    file = io.BytesIO()
    workspace.tree(path, file)
    file.seek(0)
    return tarfile.open(fileobj=file, mode="r:")
