"""The contract check of sandboxes, on the namespace sandbox and on some that break their promises."""

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "sandboxes"))
import sandbox_rootfs

from benchwright.core.errors import IsolationRefusedError, UsageError
from benchwright.core.execution import ExitCause
from benchwright.sandboxes.base import Image, RunLimits, RunResult, Workspace, WorkspaceLimits
from benchwright.sandboxes.namespace import NamespaceSandbox
from benchwright.testing import sandboxes as checks

pytestmark = pytest.mark.namespaces

LIMITS = WorkspaceLimits(memory_bytes=1 << 28, processes=64, scratch_bytes=1 << 26)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """A small root file system; skips where the kernel refuses the sandbox."""
    made = sandbox_rootfs.image(sandbox_rootfs.built_once(tmp_path_factory.getbasetemp()))
    try:
        NamespaceSandbox().open(made, LIMITS).close()
    except IsolationRefusedError as error:
        pytest.skip(str(error))
    return made


def test_the_namespace_sandbox_keeps_its_promises(image: Image) -> None:
    """All of them."""
    checks.check_sandbox(NamespaceSandbox(), image)


class Flawed:
    """A namespace sandbox whose workspaces, or itself, break a promise."""

    name = "flawed"

    def __init__(
        self,
        *,
        result: Callable[[RunResult], RunResult] = lambda result: result,
        workspace: Callable[[Workspace], Workspace] = lambda workspace: workspace,
        **overrides: Any,
    ) -> None:
        self._real = NamespaceSandbox()
        self._result = result
        self._workspace = workspace
        self._overrides = overrides
        self.closers: list[Callable[[], None]] = []

    def open(
        self,
        image: Image,
        limits: WorkspaceLimits,
        *,
        shared: Mapping[str, Path] | None = None,
        network: bool = False,
        keep: Path | None = None,
    ) -> Workspace:
        """A workspace with the flaw."""
        options: dict[str, Any] = {"shared": shared, "network": network, "keep": keep}
        limits = self._overrides.get("limits", limits)
        options |= {name: value for name, value in self._overrides.items() if name in options}
        real = self._real.open(image, limits, **options)
        self.closers.append(real.close)
        run = real.run

        def flawed_run(command: Sequence[str], *, limits: RunLimits, **rest: Any) -> RunResult:
            return self._result(run(command, limits=limits, **rest))

        real.run = flawed_run  # type: ignore[method-assign]
        return self._workspace(real)


def ignoring_modes(workspace: Workspace) -> Workspace:
    """Files are put with the usual mode."""
    put = workspace.put
    workspace.put = lambda path, data, mode=0: put(path, data)  # type: ignore[method-assign,misc]
    return workspace


def never_closing(workspace: Workspace) -> Workspace:
    """The workspace stays open."""
    workspace.close = lambda: None  # type: ignore[method-assign]
    return workspace


def finding_everything(workspace: Workspace) -> Workspace:
    """There is no file that is not there."""
    get = workspace.get
    workspace.get = lambda path, **options: get(path, **options) or b""  # type: ignore[method-assign]
    return workspace


ROOMY = WorkspaceLimits(memory_bytes=8 << 30, processes=900, scratch_bytes=1 << 30)


@pytest.mark.parametrize(
    ("check", "flaws", "words"),
    [
        ("commands", {"result": lambda r: dataclasses.replace(r, output=r.output[::-1])}, "order of writing"),
        ("commands", {"result": lambda r: dataclasses.replace(r, exit_status=0)}, "exit status 3"),
        ("commands", {"result": lambda r: dataclasses.replace(r, wall_seconds=0.0)}, "took 0.0 s"),
        ("environment", {"result": lambda r: dataclasses.replace(r, output=r.output[:1000])}, "input did not arrive"),
        ("files", {"workspace": ignoring_modes}, "mode 0750"),
        ("files", {"workspace": finding_everything}, "is still there"),
        ("wall_time", {"result": lambda r: dataclasses.replace(r, exit_cause=ExitCause.SIGNAL)}, "wall limit"),
        ("output", {"result": lambda r: dataclasses.replace(r, output=r.output[-100:])}, "the head of the output"),
        ("memory", {"limits": ROOMY}, "past its memory limit"),
        ("processes", {"limits": ROOMY}, "processes were made, of at most 64"),
        ("disk", {"limits": ROOMY}, "bytes were written"),
        ("isolation", {"network": True}, "can be reached from inside"),
        ("shared", {"shared": None}, "a shared file is not seen"),
        ("close", {"workspace": never_closing}, "a command in a closed workspace was not refused"),
        ("keep", {"keep": None}, "is not a folder"),
    ],
)
def test_broken_promises_are_named(image: Image, check: str, flaws: dict[str, Any], words: str) -> None:
    """Each by a sentence of the check that is about it."""
    sandbox = Flawed(**flaws)
    try:
        with pytest.raises((AssertionError, UsageError), match=words):
            getattr(checks, f"check_{check}")(sandbox, image)
    finally:
        for close in sandbox.closers:
            close()
