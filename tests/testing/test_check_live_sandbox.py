"""The contract check of live sandboxes, on the namespace sandbox and on some that break their promises."""

import dataclasses
import io
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pytest

sys.path.append(str(Path(__file__).parents[1] / "sandboxes"))
import sandbox_rootfs

from benchwright.core.errors import IsolationRefusedError
from benchwright.sandboxes.base import (
    Image,
    LiveProcess,
    LiveResult,
    LiveSandbox,
    LiveWorkspace,
    RunLimits,
    WorkspaceLimits,
)
from benchwright.sandboxes.namespace import NamespaceSandbox
from benchwright.testing import check_live_sandbox
from benchwright.testing import live_sandboxes as checks

pytestmark = pytest.mark.namespaces

LIMITS = WorkspaceLimits(memory_bytes=1 << 28, processes=64, scratch_bytes=1 << 26)
ROOMY = WorkspaceLimits(memory_bytes=8 << 30, processes=900, scratch_bytes=1 << 30)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """A small root file system; skips where the kernel refuses the sandbox."""
    made = sandbox_rootfs.image(sandbox_rootfs.built_once(tmp_path_factory.getbasetemp()))
    try:
        NamespaceSandbox().open_live(made, LIMITS).close()
    except IsolationRefusedError as error:
        pytest.skip(str(error))
    return made


def test_the_namespace_sandbox_keeps_its_promises(image: Image) -> None:
    """All of them."""
    check_live_sandbox(NamespaceSandbox(), image)


class Flawed:
    """A namespace sandbox whose live workspaces break a promise."""

    name = "flawed"

    def __init__(self, flaw: Callable[[LiveWorkspace], None], limits: WorkspaceLimits | None = None) -> None:
        self._real: LiveSandbox = NamespaceSandbox()
        self._flaw = flaw
        self._limits = limits
        self.closers: list[Callable[[], None]] = []

    def open_live(
        self, image: Image, limits: WorkspaceLimits, *, shared: Mapping[str, Path] | None = None
    ) -> LiveWorkspace:
        """A workspace with the flaw."""
        workspace = self._real.open_live(image, self._limits or limits, shared=shared)
        self.closers.append(workspace.close)
        self._flaw(workspace)
        return workspace

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class Changed:
    """A process whose result is changed."""

    def __init__(self, real: LiveProcess, change: Callable[[LiveResult], LiveResult]) -> None:
        self._real = real
        self._change = change
        self.kill = real.kill

    def wait(self) -> LiveResult:
        """The changed result."""
        return self._change(self._real.wait())


def results(change: Callable[[LiveResult], LiveResult]) -> Callable[[LiveWorkspace], None]:
    """Every result is changed."""

    def flaw(workspace: LiveWorkspace) -> None:
        start = workspace.start
        workspace.start = lambda *words, **options: Changed(start(*words, **options), change)  # type: ignore[method-assign]

    return flaw


def starts(**changes: Any) -> Callable[[LiveWorkspace], None]:
    """Every command is started with other options."""

    def flaw(workspace: LiveWorkspace) -> None:
        start = workspace.start
        workspace.start = lambda *words, **options: start(*words, **{**options, **changes})  # type: ignore[method-assign]

    return flaw


def one_by_one(workspace: LiveWorkspace) -> None:
    """A command is waited for before it is given away."""
    start = workspace.start

    def started(command: Sequence[str], *, limits: RunLimits, **options: Any) -> LiveProcess:
        process = start(command, limits=dataclasses.replace(limits, wall_seconds=1.0), **options)
        process.wait()
        return process

    workspace.start = started  # type: ignore[method-assign]


def killing_all(workspace: LiveWorkspace) -> None:
    """Nothing outlives a command."""
    start = workspace.start

    class Killing(Changed):
        def wait(self) -> LiveResult:
            done = self._real.wait()
            start(["sh", "-c", "kill -9 -1"], limits=RunLimits(wall_seconds=60)).wait()
            return done

    workspace.start = lambda *words, **options: Killing(start(*words, **options), lambda r: r)  # type: ignore[method-assign]


def deaf_to_kills(workspace: LiveWorkspace) -> None:
    """A command that is to be killed ends only at its time."""
    start = workspace.start

    def started(command: Sequence[str], *, limits: RunLimits, **options: Any) -> LiveProcess:
        process = start(command, limits=dataclasses.replace(limits, wall_seconds=2.0), **options)
        process.kill = lambda: None  # type: ignore[method-assign]
        return process

    workspace.start = started  # type: ignore[method-assign]


def ignoring_modes(workspace: LiveWorkspace) -> None:
    """Files are put with the usual mode."""
    put = workspace.put
    workspace.put = lambda path, data, mode=0: put(path, data)  # type: ignore[method-assign,misc]


def with_git(workspace: LiveWorkspace) -> None:
    """Nothing is left out of a tree."""
    tree = workspace.tree

    def whole(path: str, into: BinaryIO) -> None:
        tree(path, into)
        into.seek(0)
        with tarfile.open(fileobj=into, mode="a:") as opened:
            opened.addfile(tarfile.TarInfo(".git/config"))

    workspace.tree = whole  # type: ignore[method-assign]


def short_names_only(workspace: LiveWorkspace) -> None:
    """What has a long name is missing in a tree."""
    tree = workspace.tree

    def cut(path: str, into: BinaryIO) -> None:
        whole = io.BytesIO()
        tree(path, whole)
        whole.seek(0)
        with tarfile.open(fileobj=whole) as source, tarfile.open(fileobj=into, mode="w:") as target:
            for member in source:
                if len(member.name) < 256:
                    target.addfile(member, source.extractfile(member) if member.isreg() else None)

    workspace.tree = cut  # type: ignore[method-assign]


def writing_nothing(workspace: LiveWorkspace) -> None:
    """Nothing is ever said to be written."""
    workspace.written = lambda: ()  # type: ignore[method-assign]


def never_closing(workspace: LiveWorkspace) -> None:
    """The workspace stays open."""
    workspace.close = lambda: None  # type: ignore[method-assign]


def nothing(workspace: LiveWorkspace) -> None:
    """No flaw in the workspace itself."""


@pytest.mark.parametrize(
    ("check", "flaw", "limits", "words"),
    [
        ("commands", results(lambda r: dataclasses.replace(r, stderr=r.stdout)), None, "the streams came back"),
        ("commands", starts(merged=False), None, "order of writing"),
        ("commands", results(lambda r: dataclasses.replace(r, exit_status=0)), None, "exit status 3"),
        ("environment", starts(cwd=None), None, "cwd is not obeyed"),
        ("environment", starts(environ=None), None, "an added variable is missing"),
        ("output", results(lambda r: dataclasses.replace(r, stdout=r.stdout[-100:])), None, "the head of the output"),
        ("output", results(lambda r: dataclasses.replace(r, stdout=r.stdout[:100])), None, "the tail of the output"),
        ("threads", one_by_one, None, "do not run side by side"),
        ("time", results(lambda r: dataclasses.replace(r, timed_out=False)), None, "past its time came back"),
        ("kill", deaf_to_kills, None, "a killed command came back"),
        ("background", killing_all, None, "does not go on"),
        ("users", starts(user="root"), None, "was not refused"),
        ("files", ignoring_modes, None, "mode 0750"),
        ("tree", with_git, None, "a tree has"),
        ("strange_trees", short_names_only, None, "strange name"),
        ("written", writing_nothing, None, "not all is in"),
        ("limits", nothing, ROOMY, "past the memory limit ended well"),
        ("close", never_closing, None, "was not refused"),
    ],
)
def test_broken_promises_are_named(
    image: Image,
    check: str,
    flaw: Callable[[LiveWorkspace], None],
    limits: WorkspaceLimits | None,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each by a sentence of the check that is about it."""
    for module in (checks, sys.modules["benchwright.testing.live_calls"]):
        monkeypatch.setattr(module, "SECONDS", 3.0)
    monkeypatch.setattr(checks, "_AT_ONCE_SECONDS", 3.0)
    sandbox = Flawed(flaw, limits)
    try:
        with pytest.raises(AssertionError, match=words):
            getattr(checks, f"check_live_{check}")(sandbox, image)
    finally:
        for close in sandbox.closers:
            close()
