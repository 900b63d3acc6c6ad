"""Making the groups of workspaces: memory, number of processes and CPU time, as far as this process may make any."""

import contextlib
import os
import threading
from pathlib import Path

from benchwright.sandboxes.cgroups import GroupFactory
from benchwright.sandboxes.groups import WorkspaceGroup

_MOUNT = Path("/sys/fs/cgroup")
_PREFIX = "benchwright-workspace-"


class WorkspaceGroups:
    """Makes the groups of workspaces."""

    def __init__(self) -> None:
        self._memory = GroupFactory()
        self._roots = {name: root for name in ("pids", "cpuacct", "cpu") if (root := _v1_root(name)) is not None}
        for root in self._roots.values():
            _remove_orphans(root)

    def make(self, *, fair: bool = False) -> WorkspaceGroup:
        """New groups; raises ``OSError`` when the kernel refuses.

        Args:
            fair: Whether the workspace shall get no larger a share of the processors than any other, however many
                processes and sessions it has; where control groups are of version 2, it never does.
        """
        memory = self._memory.make() if self._memory.available else None
        if memory is not None and memory.version == 2:
            folder = memory.memory
            processes = folder if (folder / "pids.max").exists() else None
            return WorkspaceGroup(memory=memory, processes=processes, cpu=folder / "cpu.stat")
        folders: dict[str, Path] = {}
        try:
            for name, root in self._roots.items():
                if fair or name != "cpu":
                    folder = root / f"{_PREFIX}{os.getpid()}-{self._memory.number()}"
                    folder.mkdir()
                    folders[name] = folder
        except OSError:
            WorkspaceGroup(memory=memory, own=tuple(folders.values())).remove()
            raise
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
            return root.resolve()  # two controllers may have one hierarchy
    return None


def _can_make(root: Path) -> bool:
    probe = root / f"{_PREFIX}{os.getpid()}-probe-{threading.get_ident()}"
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
