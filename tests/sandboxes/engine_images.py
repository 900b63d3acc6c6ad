"""The small root file system as an image of a container engine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sandbox_rootfs

from benchwright.core.errors import IsolationRefusedError
from benchwright.environments.repositories.images import ImageLayer, build_image, remove_image
from benchwright.sandboxes.base import Image
from benchwright.sandboxes.docker import DockerSandbox
from benchwright.sandboxes.users import user_mapping


@contextmanager
def engine_image(base: Path, label: str) -> Iterator[Image]:
    """The image while it is needed; skips where no engine answers.

    Args:
        base: Folder of the test session, where the root file system is built once.
        label: What tells it from the images of other modules.
    """
    engine = DockerSandbox().engine
    try:
        engine.facts  # noqa: B018
    except IsolationRefusedError as error:
        pytest.skip(str(error))
    tag = f"benchwright-test/{label}-{os.getpid()}:latest"
    layers = [ImageLayer(path=sandbox_rootfs.built_once(base), digest=f"{label}-{os.getpid()}")]
    environ = sandbox_rootfs.image().environ
    yield build_image(engine, layers, tag=tag, environ=environ, owner=user_mapping())
    remove_image(engine, tag)
