"""Makes the root file system of tests/sandboxes importable, and gives every test here its repositories."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "sandboxes"))

from little_repositories import Bench, Workshop, bench_in

from benchwright.core.errors import IsolationRefusedError
from benchwright.sandboxes.docker import DockerSandbox
from benchwright.sandboxes.namespace import NamespaceSandbox


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """The repositories and the layers that they are built of."""
    with Workshop(tmp_path_factory.mktemp("repositories")) as made:
        yield made


@pytest.fixture(scope="session")
def bench(workshop: Workshop) -> Callable[..., Bench]:
    """A repository in a sandbox, by the repository's name and the sandbox's; made once."""
    made: dict[tuple[str, str], Bench] = {}

    def find(name: str, sandbox: str = "namespace") -> Bench:
        if (name, sandbox) not in made:
            made[name, sandbox] = _docker(workshop, name) if sandbox == "docker" else _namespace(workshop, name)
        return made[name, sandbox]

    return find


def _namespace(workshop: Workshop, name: str) -> Bench:
    found = bench_in(workshop, name, NamespaceSandbox())
    try:
        found.open().close()
    except IsolationRefusedError as error:
        pytest.skip(str(error))
    return found


def _docker(workshop: Workshop, name: str) -> Bench:
    try:
        done = subprocess.run(["docker", "info"], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"no container engine: {error}")
    if done.returncode != 0:
        pytest.skip("no container engine answers `docker info`")
    return bench_in(workshop, name, DockerSandbox())
