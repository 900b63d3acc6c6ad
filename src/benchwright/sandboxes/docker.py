"""The ``docker`` sandbox: containers of Docker or Podman, driven by plain commands of their client.

A workspace is one container whose main process sleeps; each command is an ``exec`` in it.  Whether anything outlives a
command is seen from outside, by the container's control group or the engine's list of its processes, and ended from
outside too.  Files are written and read by the engine.  So nothing that decides rests on a program of the image, which
the code under test may have replaced; only removing a file, or clearing the way for one, uses the image's ``sh`` and
``rm``, and every command starts through its ``sh``.

A live workspace is the same, but that its commands run side by side and leave running what they like; see
`benchwright.sandboxes.containers.wrapping` for how the end of one is told from that of the others.
"""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchwright.core.errors import MachineError, SandboxFault, UsageError
from benchwright.sandboxes.base import Image, WorkspaceLimits
from benchwright.sandboxes.containers.caring import LiveContainer
from benchwright.sandboxes.containers.engine import Answer, Engine
from benchwright.sandboxes.containers.execs import CHECK_SECONDS
from benchwright.sandboxes.containers.groups import OWNER_LABEL, ContainerGroup, machine, new_name, orphans
from benchwright.sandboxes.containers.guard import guard
from benchwright.sandboxes.containers.live import DockerLiveWorkspace
from benchwright.sandboxes.containers.processes import OwnProcesses, wait_for_main
from benchwright.sandboxes.containers.workspace import DockerWorkspace, variables

CAPABILITIES = (
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "NET_BIND_SERVICE",
    "SYS_CHROOT",
)
"""What root inside may do: Docker's default set without MKNOD, NET_RAW, SETFCAP and AUDIT_WRITE, which tests of
libraries do not need; the same as in the namespace sandbox."""

_HOST_NAME = "sandbox"  # this and the next two as in the namespace sandbox
_OPEN_FILES = 16_384
_STACK_BYTES = 8 << 20
_MAIN = """\
env --ignore-signal=CHLD true 2> /dev/null && exec env --ignore-signal=CHLD sleep infinity
exec bash -c "trap '' CHLD; exec sleep infinity"
"""
"""The main process.  As the first of its process namespace it cannot be killed from inside, and since it ignores the
end of children the kernel reaps those it inherits: no init is needed, whose child could be killed and end them all.
The image needs the ``env`` of coreutils 8.31 (2019) or newer, or bash; dash does not ignore that signal when told to.
"""
_QUOTA_SYSTEMS = ("xfs", "btrfs", "zfs")
"""File systems below which an engine may be able to limit what a container writes."""
_NO_IMAGE = ("no such image", "unable to find image", "image not known", "not found locally")


class DockerSandbox:
    """Makes workspaces that are containers; may be shared by threads.

    Root inside is root outside with few capabilities, or nobody where the engine maps users or runs without root.
    ``scratch_bytes`` is a quota where the engine can set one; elsewhere it limits each file, and the sum is looked at
    every ten seconds while a command runs: one that has written more is killed.  The peak of memory includes cached
    files.  Where the engine's processes cannot be seen (it runs elsewhere, or in a virtual machine), CPU time and
    peak are unknown, and being killed for memory shows as a signal.
    """

    def __init__(self, client: str = "docker") -> None:
        """Args: ``client`` is the engine's command, ``docker`` or ``podman``."""
        self._engine = Engine(client)
        self._lock = threading.Lock()
        self._ready = False
        self._quotas = False
        self._known: tuple[str, ContainerGroup | None] | None = None

    @property
    def name(self) -> str:
        """``docker``."""
        return "docker"

    @property
    def engine(self) -> Engine:
        """The engine that makes the containers."""
        return self._engine

    def open(
        self,
        image: Image,
        limits: WorkspaceLimits,
        *,
        shared: Mapping[str, Path] | None = None,
        network: bool = False,
        keep: Path | None = None,
    ) -> DockerWorkspace:
        """A fresh workspace; see `benchwright.sandboxes.base.Sandbox.open`.

        Nothing is pulled.  ``keep`` cannot be had: layers are made by the namespace sandbox, images from layers.
        """
        if keep is not None:
            raise UsageError("The docker sandbox cannot keep what was written as a layer; use the namespace sandbox.")
        settings = _settings(image, limits, dict(shared or {}), network)
        self._prepare()
        name = new_name()
        try:
            container_id = self._start(["--name", name, *settings], image, limits)
            workspace = DockerWorkspace(self._engine, name, self._group(container_id), image, limits)
            workspace.wait_until_idle()
        except BaseException:
            self._engine.call("rm", "-f", "-v", name)
            raise
        return workspace

    def open_live(
        self, image: Image, limits: WorkspaceLimits, *, shared: Mapping[str, Path] | None = None
    ) -> DockerLiveWorkspace:
        """A fresh live workspace; see `benchwright.sandboxes.base.LiveSandbox.open_live`.

        When this process ends without closing it, be it by ``kill -9``, a small process beside it removes the
        container.  What has been written beyond ``scratch_bytes`` ends all that runs, where there is no quota.
        """
        settings = _settings(image, limits, dict(shared or {}), network=False)
        self._prepare()
        guard(self._engine.client)
        name = new_name()
        try:
            container_id = self._start(["--name", name, *settings], image, limits)
            return self._live(name, container_id, image, limits, shared or {})
        except BaseException:
            self._engine.call("rm", "-f", "-v", name)
            raise

    def _live(
        self, name: str, container_id: str, image: Image, limits: WorkspaceLimits, shared: Mapping[str, Path]
    ) -> DockerLiveWorkspace:
        group = self._group(container_id)
        main = wait_for_main(self._engine, name, group, image.reference)
        container = LiveContainer(
            self._engine,
            name,
            OwnProcesses.of(group, main),
            most_bytes=limits.scratch_bytes,
            check_seconds=None if self._quotas else CHECK_SECONDS,
        )
        return DockerLiveWorkspace(container, workdir=image.workdir, mounted=shared)

    def remove_orphans(self) -> tuple[str, ...]:
        """Remove the containers of processes of this machine that are gone; returns their names."""
        listed = self._engine.call("ps", "-a", "--filter", f"label={OWNER_LABEL}={machine()}", "--format", "{{.Names}}")
        left = orphans(listed.text.splitlines())
        if left:
            self._engine.call("rm", "-f", "-v", *left)
        return tuple(left)

    def _prepare(self) -> None:
        with self._lock:
            if not self._ready:
                facts = self._engine.facts
                self._quotas = facts.backing in _QUOTA_SYSTEMS
                self.remove_orphans()
                self._ready = True

    def _start(self, settings: Sequence[str], image: Image, limits: WorkspaceLimits) -> str:
        if self._quotas:
            answer = self._engine.call("run", "--storage-opt", f"size={limits.scratch_bytes}", *settings)
            if answer.status == 0 or "storage" not in answer.errors.lower():
                return _started(answer, image)
            self._quotas = False
        return _started(self._engine.call("run", *settings), image)

    def _group(self, container_id: str) -> ContainerGroup | None:
        """The container's control groups; the engine is asked for the first one only."""
        if self._known is None:
            pid = self._engine.call("inspect", "--format", "{{.State.Pid}}", container_id).text
            self._known = container_id, ContainerGroup.find(container_id, int(pid)) if pid.isdigit() else None
        known_id, known = self._known
        return None if known is None else known.of(known_id, container_id)


def _settings(image: Image, limits: WorkspaceLimits, shared: Mapping[str, Path], network: bool) -> list[str]:
    """Everything after ``docker run`` but the name."""
    if not image.reference:
        raise UsageError(
            "The docker sandbox opens images of a container engine, and this one is made of layers; build an image "
            "from them first, or use the namespace sandbox."
        )
    hosts = ("--hostname", _HOST_NAME, "--add-host", f"{_HOST_NAME}:127.0.0.1")
    connection = ("--network", "host") if network else ("--network", "none", *hosts)
    return [
        "--detach", "--pull", "never", "--label", f"{OWNER_LABEL}={machine()}",
        *connection,
        "--user", "0:0", "--cap-drop", "ALL", *(f"--cap-add={name}" for name in CAPABILITIES),
        "--security-opt", "no-new-privileges", "--ipc", "private",
        "--memory", str(limits.memory_bytes), "--memory-swap", str(limits.memory_bytes),
        "--shm-size", str(limits.scratch_bytes), "--pids-limit", str(limits.processes + 1),
        "--ulimit", f"nofile={_OPEN_FILES}:{_OPEN_FILES}", "--ulimit", "core=0:0",
        "--ulimit", f"stack={_STACK_BYTES}:-1", "--ulimit", f"fsize={limits.scratch_bytes}:{limits.scratch_bytes}",
        "--log-driver", "none", "--no-healthcheck", *_mounts(shared), *variables(image.environ),
        "--workdir", image.workdir, "--entrypoint", "/bin/sh", image.reference, "-c", _MAIN,
    ]  # fmt: skip


def _mounts(shared: Mapping[str, Path]) -> list[str]:
    words = []
    for inside, path in shared.items():
        if not inside.startswith("/") or '"' in inside or '"' in str(path):
            raise UsageError(f"Expected an absolute path without quotes to share {path} at, got {inside!r}.")
        if not path.is_dir():
            raise UsageError(f"The folder {path} is to be shared with a sandbox, and is not there.")
        words += ["--mount", f'type=bind,"source={path.resolve()}","target={inside}",readonly']
    return words


def _started(answer: Answer, image: Image) -> str:
    """The id of the container that was started; raises what `DockerSandbox.open` promises when none was."""
    if answer.status == 0:
        return answer.text.splitlines()[-1]
    said = answer.errors.lower()
    if any(words in said for words in _NO_IMAGE):
        raise UsageError(
            f"The container engine has no image {image.reference}; build it (`bw env build`) or pull it first."
        )
    if "no space left" in said:
        raise MachineError(f"The container engine's disk is full ({answer.complaint}); free space and try again.")
    raise SandboxFault(f"a container could not be started: {answer.complaint}")
