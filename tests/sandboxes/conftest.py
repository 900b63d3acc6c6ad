"""Live workspaces of the namespace sandbox, for the modules that have no `sandbox` and `image` of their own."""

from collections.abc import Iterator

import pytest
import sandbox_rootfs

from benchwright.core.errors import IsolationRefusedError
from benchwright.sandboxes.base import Image, LiveSandbox, LiveWorkspace
from benchwright.sandboxes.namespace import NamespaceSandbox
from benchwright.testing.live_calls import LIMITS


@pytest.fixture(scope="module")
def sandbox() -> LiveSandbox:
    """The sandbox under test."""
    return NamespaceSandbox()


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory, sandbox: LiveSandbox) -> Image:
    """The small root file system; skips where the kernel refuses the sandbox."""
    made = sandbox_rootfs.image(sandbox_rootfs.built_once(tmp_path_factory.getbasetemp()))
    try:
        sandbox.open_live(made, LIMITS).close()
    except IsolationRefusedError as error:
        pytest.skip(str(error))
    return made


@pytest.fixture
def workspace(sandbox: LiveSandbox, image: Image) -> Iterator[LiveWorkspace]:
    """A fresh workspace."""
    with sandbox.open_live(image, LIMITS) as made:
        yield made
