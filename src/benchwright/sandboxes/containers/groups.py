"""What the host sees of its containers without asking the engine: whose they are, their control groups."""

import contextlib
import functools
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchwright.sandboxes.cgroups import SlotGroup
from benchwright.sandboxes.groups import WorkspaceGroup

OWNER_LABEL = "benchwright.machine"
"""Label of every container: which machine (and which of its process namespaces) the process that made it is on."""

_PREFIX = "benchwright"
_MOUNT = Path("/sys/fs/cgroup")


@functools.cache
def machine() -> str:
    """This machine since its start, and this process namespace: within it, a process id and start time name one."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}-{Path('/proc/self/ns/pid').stat().st_ino}"


def new_name() -> str:
    """A name for a container of this process, which nobody can guess."""
    return own_prefix() + secrets.token_hex(8)


def own_prefix() -> str:
    """What the names of all containers of this process begin with, and of no others on this machine."""
    pid = os.getpid()
    return f"{_PREFIX}-{pid}-{_start_time(pid)}-"


def orphans(names: Iterable[str]) -> list[str]:
    """Those among names of containers of this machine whose process is gone."""
    return [name for name in names if not _is_owned(name)]


def _is_owned(name: str) -> bool:
    prefix, _, rest = name.partition("-")
    pid, _, rest = rest.partition("-")
    if prefix != _PREFIX or not pid.isdigit():
        return True  # not named by us
    return _start_time(int(pid)) == rest.partition("-")[0]


def _start_time(pid: int) -> str:
    """When a process started, in clock ticks since boot; empty when there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (FileNotFoundError, ProcessLookupError):
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What the processes of a container have used; zeros where nobody can tell."""

    cpu_seconds: float = 0.0
    peak_bytes: int = 0
    """Cached files are counted."""
    kills: int = 0
    """How many processes the kernel has killed for memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerGroup:
    """The control groups of one container, for reading; they vanish with its processes (``OSError``)."""

    folders: tuple[tuple[str, Path], ...]
    """Controller of version 1 and folder; one folder under an empty name in version 2."""

    @classmethod
    def find(cls, container_id: str, pid: int) -> "ContainerGroup | None":
        """The groups of a container's first process; None when the engine's processes are not ours to see."""
        try:
            lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
        except OSError:
            return None
        paths = {name: path for _, names, path in (line.split(":", 2) for line in lines) for name in names.split(",")}
        wanted = ("memory", "cpuacct") if "memory" in paths else ("",)
        folders = tuple((name, _MOUNT / name / paths.get(name, "").lstrip("/")) for name in wanted)
        if not all(container_id in str(folder) and folder.is_dir() for _, folder in folders):
            return None
        return cls(folders=folders)

    def of(self, container_id: str, other_id: str) -> "ContainerGroup":
        """The groups of another container of the same engine, which it names in the same way."""
        return ContainerGroup(
            folders=tuple((name, Path(str(folder).replace(container_id, other_id))) for name, folder in self.folders)
        )

    def usage(self) -> Usage:
        """What has been used since the container's start; the peak is that since `forget_peak` where it works."""
        cpu = self._reader.cpu_seconds()
        memory = self._reader.memory
        assert cpu is not None and memory is not None
        return Usage(cpu_seconds=cpu, peak_bytes=memory.peak_bytes() or 0, kills=memory.kills())

    def forget_peak(self) -> None:
        """Start a new measurement of the peak of memory, where this process may: with version 1 of control groups.

        With version 2 a reset holds for one open descriptor only, so there the peak is that since the start.
        """
        name, memory = self.folders[0]
        if name:
            with contextlib.suppress(PermissionError, FileNotFoundError):
                (memory / "memory.max_usage_in_bytes").write_text("0")

    def processes(self) -> frozenset[int]:
        """Ids of all processes in it."""
        return frozenset(int(line) for line in (self.folders[0][1] / "cgroup.procs").read_text().split())

    @property
    def _reader(self) -> WorkspaceGroup:
        memory = self.folders[0][1]
        if len(self.folders) == 1:
            return WorkspaceGroup(memory=SlotGroup(memory=memory, version=2, folders=()), cpu=memory / "cpu.stat")
        cpu = self.folders[1][1] / "cpuacct.usage"
        return WorkspaceGroup(memory=SlotGroup(memory=memory, version=1, folders=()), cpu=cpu)
