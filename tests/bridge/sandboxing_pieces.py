"""What the tests of the sandbox providers begin with: a root file system that Inspect's tools can work in, and a
workspace that does nothing but what it is told to."""

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Self

import pytest
from inspect_ai.util import SandboxEnvironmentSpec

sys.path.append(str(Path(__file__).parents[1] / "sandboxes"))

import sandbox_rootfs

from benchwright.bridge.sandboxing.config import WorkspaceConfig
from benchwright.bridge.sandboxing.providers import DOCKER, NAMESPACE, DockerEnvironment, NamespaceEnvironment, Provider
from benchwright.core.errors import IsolationRefusedError, SandboxFault
from benchwright.core.execution import MIB
from benchwright.environments.repositories.images import ImageLayer, build_image, remove_image
from benchwright.sandboxes.base import Image, LiveResult, RunLimits, WorkspaceLimits
from benchwright.sandboxes.docker import DockerSandbox
from benchwright.sandboxes.users import user_mapping

LIMITS = WorkspaceLimits(memory_bytes=1024 * MIB, processes=128, scratch_bytes=512 * MIB)
CONFIG = WorkspaceConfig(digest="0" * 64, memory_bytes=1 << 28, processes=64, scratch_bytes=1 << 26)

_PROGRAMS = (
    "bash", "basename", "dirname", "find", "gzip", "mktemp", "ps", "rmdir", "stat", "tar", "tee", "which", "whoami",
)  # fmt: skip
_LIBRARIES = ("libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "libm.so.6", "libz.so.1")
"""What Inspect's program was linked with; most are parts of the C library, and empty by now."""
_ADD_USER = """\
#!/bin/sh
# Takes the options of BusyBox's.
if [ "$1" = --help ]; then echo 'BusyBox adduser'; exit; fi
for name; do :; done
echo "$name:x:1000:1000::/home/$name:/bin/sh" >> /etc/passwd
echo "$name:x:1000:" >> /etc/group
"""


def programs_layer(folder: Path) -> Path:
    """A layer over the little root file system of the sandboxes' tests, with what Inspect and its tools call."""
    (folder / "usr/bin").mkdir(parents=True)
    (folder / "etc").mkdir()
    programs = [path for name in _PROGRAMS if (path := shutil.which(name)) is not None]
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    libraries = [path for name in _LIBRARIES for path in re.findall(rf"{re.escape(name)} \(.*64.*=> (\S+)", listing)]
    listing = subprocess.run(["ldd", *programs, *libraries], capture_output=True, text=True).stdout
    for path in {*programs, *libraries, *re.findall(r"(/\S+) \(0x", listing)}:
        target = folder / "usr" / path.removeprefix("/usr").lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    (folder / "usr/bin/adduser").write_text(_ADD_USER)
    (folder / "usr/bin/adduser").chmod(0o755)
    (folder / "etc/os-release").write_text("ID=debian\nVERSION=13\n")
    mapping = user_mapping()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, mapping.uid, mapping.gid, follow_symlinks=False)
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A provider and an image that its sandboxes can work in."""

    provider: type[Provider]
    config: WorkspaceConfig
    spec: SandboxEnvironmentSpec


@contextlib.contextmanager
def place(name: str, base: Path) -> Iterator[Place]:
    """``namespace`` or ``docker`` with the root file system, which is built once below a folder of the session.

    Skips the test where the machine cannot.
    """
    programs = base / "sandbox-programs"
    if not programs.exists():
        programs_layer(programs)
    layers = (sandbox_rootfs.built_once(base), programs)
    try:
        if name == "docker":
            with _docker_image(layers) as image:
                yield _place(DockerEnvironment, DOCKER, image)
        else:
            image = sandbox_rootfs.image(*layers)
            NamespaceEnvironment.sandbox().open_live(image, LIMITS).close()
            yield _place(NamespaceEnvironment, NAMESPACE, image)
    except IsolationRefusedError as error:
        pytest.skip(str(error))


def _place(provider: type[Provider], name: str, image: Image) -> Place:
    config = WorkspaceConfig.from_image(image, LIMITS)
    return Place(provider=provider, config=config, spec=SandboxEnvironmentSpec(name, config))


@contextlib.contextmanager
def _docker_image(layers: Sequence[Path]) -> Iterator[Image]:
    engine = DockerSandbox().engine
    tag = f"benchwright-test/providers-{os.getpid()}:latest"
    named = [ImageLayer(path=layer, digest=f"test-{layer.name}-{os.getpid()}") for layer in layers]
    environ = sandbox_rootfs.image().environ
    image = build_image(engine, named, tag=tag, environ=environ, owner=user_mapping())
    try:
        yield image
    finally:
        remove_image(engine, tag)


def ended(
    status: int | None = 0,
    stdout: bytes = b"",
    stderr: bytes = b"",
    *,
    timed_out: bool = False,
    stdout_total_bytes: int | None = None,
) -> LiveResult:
    """How a command ended."""
    return LiveResult(
        exit_status=status,
        stdout=stdout,
        stderr=stderr,
        stdout_total_bytes=len(stdout) if stdout_total_bytes is None else stdout_total_bytes,
        stderr_total_bytes=len(stderr),
        timed_out=timed_out,
        wall_seconds=0.0,
    )


@dataclass
class ScriptedProcess:
    """A command that ends as the script says."""

    end: Callable[[], LiveResult]
    kills: int = 0

    def wait(self) -> LiveResult:
        """As the script says."""
        return self.end()

    def kill(self) -> None:
        """Counted."""
        self.kills += 1


@dataclass
class ScriptedWorkspace:
    """A live workspace that takes down what it is asked and answers from a script, one answer a command."""

    answers: deque[LiveResult | Exception] = field(default_factory=deque)
    asked: list[dict[str, Any]] = field(default_factory=list)
    processes: list[ScriptedProcess] = field(default_factory=list)
    closings: int = 0
    unclosable: int = 0
    """How many closings fail."""

    def start(
        self,
        command: Sequence[str],
        *,
        limits: RunLimits,
        environ: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
        user: str | None = None,
        merged: bool = False,
    ) -> ScriptedProcess:
        """The next answer."""
        asked = {"command": list(command), "limits": limits, "environ": dict(environ or {}), "cwd": cwd}
        self.asked.append({**asked, "stdin": stdin, "user": user, "merged": merged})
        answer = self.answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        process = ScriptedProcess(lambda: answer)
        self.processes.append(process)
        return process

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Not scripted."""
        raise AssertionError(path)

    def get(self, path: str, *, max_bytes: int = 0) -> bytes | None:
        """Not scripted."""
        raise AssertionError(path)

    def tree(self, path: str, into: BinaryIO) -> None:
        """The path itself."""
        into.write(path.encode())

    def written(self) -> tuple[str, ...] | None:
        """One path; a fault when nothing is scripted any more."""
        raise SandboxFault("gone")

    def close(self) -> None:
        """Counted."""
        self.closings += 1
        if self.closings <= self.unclosable:
            raise SandboxFault("left over; remove it with: rm it")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
