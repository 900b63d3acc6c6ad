"""Workspaces of pulled images: nobody gets one whose history was not cut."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.errors import BenchwrightError, MachineError, SandboxFault
from benchwright.core.repositories import RepositoryProblem
from benchwright.environments.repositories import pulled
from benchwright.environments.repositories.pulled import PulledSandbox
from benchwright.sandboxes.base import Image, WorkspaceLimits

PROBLEM = RepositoryProblem(
    benchmark="b",
    id="o__n-1",
    repo="o/n",
    version="1",
    base_commit="a" * 40,
    environment_commit="a" * 40,
    issue="i",
    hints="",
    created_at="",
    reference_patch="",
    test_patch="",
    fail_to_pass=(),
    pass_to_pass=(),
    digest="d",
)
IMAGE = Image(digest="d", reference="somebody/image:1")
LIMITS = WorkspaceLimits(memory_bytes=1, processes=1, scratch_bytes=1)


class ScriptedWorkspace:
    """Remembers whether it was closed."""

    closed = False

    def close(self) -> None:
        """Remember it."""
        self.closed = True


class ScriptedSandbox:
    """Opens one scripted workspace and remembers how it was asked."""

    name = "docker"

    def __init__(self) -> None:
        self.workspace = ScriptedWorkspace()
        self.asked: list[tuple[Any, ...]] = []

    def open(self, image: Image, limits: WorkspaceLimits, **options: Any) -> Any:
        """The workspace."""
        self.asked.append((image, limits, options))
        return self.workspace


@pytest.fixture
def inner() -> ScriptedSandbox:
    """The sandbox inside."""
    return ScriptedSandbox()


def prepared_by(monkeypatch: pytest.MonkeyPatch, prepare: Callable[..., None]) -> None:
    """Cut histories by something else."""
    monkeypatch.setattr(pulled, "prepare_pulled", prepare)


def test_the_history_is_cut_before_the_workspace_is_handed_out(
    inner: ScriptedSandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With the problem's base commit; everything that was asked for is passed on."""
    cut: list[tuple[object, ...]] = []
    prepared_by(monkeypatch, lambda *arguments: cut.append(arguments))
    sandbox = PulledSandbox(inner, PROBLEM)
    opened = sandbox.open(IMAGE, LIMITS, shared={"/x": tmp_path}, keep=tmp_path)
    assert opened is inner.workspace  # type: ignore[comparison-overlap]
    assert cut == [(inner.workspace, PROBLEM)]
    assert inner.asked == [(IMAGE, LIMITS, {"shared": {"/x": tmp_path}, "network": False, "keep": tmp_path})]
    assert not inner.workspace.closed
    assert sandbox.name == "docker", "a verdict in a pulled image is one of that sandbox"


@pytest.mark.parametrize(
    ("raised", "seen"),
    [
        (MachineError("a later commit is left"), SandboxFault),
        (SandboxFault("git does not start"), SandboxFault),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
    ids=["not cut", "broken", "interrupted"],
)
def test_a_workspace_that_could_not_be_prepared_is_closed(
    inner: ScriptedSandbox,
    monkeypatch: pytest.MonkeyPatch,
    raised: BaseException,
    seen: type[BaseException],
) -> None:
    """Nobody sees it, and it does not stay; one bad image is that job's fault, and stops no others."""

    def prepare(*arguments: object) -> None:
        raise raised

    prepared_by(monkeypatch, prepare)
    with pytest.raises(seen) as caught:
        PulledSandbox(inner, PROBLEM).open(IMAGE, LIMITS)
    if isinstance(raised, BenchwrightError):
        assert str(caught.value) == str(raised)
    assert inner.workspace.closed
