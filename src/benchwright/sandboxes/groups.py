"""The control groups of one workspace: limits that are set by them, and what has been used."""

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path

from benchwright.sandboxes.cgroups import SlotGroup

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
