"""The control groups of a workspace: memory, number of processes and CPU time, as far as this process may make any."""

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from benchwright.sandboxes.cgroups import GroupFactory, SlotGroup

_MOUNT = Path("/sys/fs/cgroup")
_PREFIX = "benchwright-workspace-"
_REMOVE_TRIES = 200
_REMOVE_PAUSE = 0.005  # the kernel lets go of a process's group shortly after the process


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceGroup:
    """The groups of one workspace; without any, limits are watched from inside."""

    memory: SlotGroup | None = None
    processes: Path | None = None
    """Folder with ``pids.max``."""
    cpu: Path | None = None
    """File with the CPU time used so far."""
    own: tuple[Path, ...] = ()
    """Folders besides those of ``memory``."""

    def join_paths(self) -> tuple[str, ...]:
        """Files a process writes ``0`` to in order to join."""
        memory = self.memory.join_paths() if self.memory is not None else ()
        return (*memory, *(str(folder / "cgroup.procs") for folder in self.own))

    def limit_processes(self, count: int) -> None:
        """Set how many processes and threads may be alive at once."""
        if self.processes is not None:
            (self.processes / "pids.max").write_text(str(count))

    def cpu_seconds(self) -> float | None:
        """CPU time of all who ever were members; None where the kernel does not tell."""
        if self.cpu is None:
            return None
        text = self.cpu.read_text()
        if self.cpu.name == "cpu.stat":
            return int(dict(line.split() for line in text.splitlines())["usage_usec"]) / 1e6
        return int(text) / 1e9

    def remove(self) -> bool:
        """Remove the folders, whose members are dead; False when the kernel refuses to for a second."""
        for _ in range(_REMOVE_TRIES):
            for folder in self.own:
                with contextlib.suppress(OSError):
                    folder.rmdir()
            removed = self.memory is None or self.memory.remove()
            if removed and not any(folder.exists() for folder in self.own):
                return True
            time.sleep(_REMOVE_PAUSE)
        return False


class WorkspaceGroups:
    """Makes the groups of workspaces."""

    def __init__(self) -> None:
        self._memory = GroupFactory()
        self._roots = {name: root for name in ("pids", "cpuacct") if (root := _v1_root(name)) is not None}
        for root in self._roots.values():
            _remove_orphans(root)

    def make(self) -> WorkspaceGroup:
        """New groups; raises ``OSError`` when the kernel refuses."""
        memory = self._memory.make() if self._memory.available else None
        if memory is not None and memory.version == 2:
            folder = memory.memory
            processes = folder if (folder / "pids.max").exists() else None
            return WorkspaceGroup(memory=memory, processes=processes, cpu=folder / "cpu.stat")
        folders = {}
        for name, root in self._roots.items():
            folders[name] = root / f"{_PREFIX}{os.getpid()}-{self._memory.number()}"
            folders[name].mkdir()
        cpu = folders.get("cpuacct")
        return WorkspaceGroup(
            memory=memory,
            processes=folders.get("pids"),
            cpu=cpu / "cpuacct.usage" if cpu is not None else None,
            own=tuple(dict.fromkeys(folders.values())),
        )


def _v1_root(controller: str) -> Path | None:
    """Our own group of a controller of version 1, if groups can be made in it."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        root = _MOUNT / controller / path.lstrip("/")
        if controller in names.split(",") and (root / "cgroup.procs").exists() and _can_make(root):
            return root
    return None


def _can_make(root: Path) -> bool:
    probe = root / f"{_PREFIX}{os.getpid()}-probe"
    try:
        probe.mkdir(exist_ok=True)
        probe.rmdir()
    except OSError:
        return False
    return True


def _remove_orphans(root: Path) -> None:
    """Remove the empty groups of hosts that were killed; the kernel keeps every group that has a process in it."""
    for folder in root.glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):
                folder.rmdir()
