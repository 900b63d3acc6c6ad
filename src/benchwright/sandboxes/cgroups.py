"""Memory limits by control groups, where this process may make any (usually: as root).

Both hierarchies are spoken: version 1 (a folder below our own group of the ``memory`` controller) and version 2
(a folder below the nearest group above us that hands ``memory`` down).  Where neither is writable the engine falls
back to resource limits and watching; that is a fact of the record, not an error.
"""

import contextlib
import itertools
import os
import shlex
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")
_PREFIX = "benchwright-"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotGroup:
    """The control group of one slot."""

    memory: Path
    version: int
    folders: tuple[Path, ...]

    def join_paths(self) -> tuple[str, ...]:
        """Files a process writes ``0`` to in order to join."""
        return tuple(str(folder / "cgroup.procs") for folder in self.folders)

    def start(self, limit_bytes: int) -> bool:
        """Set the limit for the next job and forget the last one's peak; False where the kernel keeps that peak."""
        if self.version == 1:
            limit, swap = self.memory / "memory.limit_in_bytes", self.memory / "memory.memsw.limit_in_bytes"
            self._set_v1(limit, swap, limit_bytes)
            (self.memory / "memory.max_usage_in_bytes").write_text("0")
            return True
        (self.memory / "memory.max").write_text(str(limit_bytes))
        if (self.memory / "memory.swap.max").exists():
            (self.memory / "memory.swap.max").write_text("0")
        try:
            (self.memory / "memory.peak").write_text("0")
        except OSError:  # writable from Linux 6.12 on
            return False
        return True

    @staticmethod
    def _set_v1(limit: Path, swap: Path, value: int) -> None:
        # The limit without swap may never exceed the one with swap, so the order depends on the direction.
        current = int(limit.read_text())
        files = [limit, swap] if value < current else [swap, limit]
        for file in files:
            if file.exists():
                file.write_text(str(value))

    def peak_bytes(self) -> int | None:
        """Highest memory use since :meth:`start`; None where the kernel does not tell (before Linux 5.19)."""
        name = "memory.max_usage_in_bytes" if self.version == 1 else "memory.peak"
        try:
            return int((self.memory / name).read_text())
        except OSError:
            return None

    def kills(self) -> int:
        """How often the kernel has killed a process of this group for memory."""
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        for line in (self.memory / name).read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == "oom_kill":
                return int(value)
        return 0

    def remove(self) -> bool:
        """Remove the folders; False while the kernel refuses because a process is still in one of them."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        return not any(folder.exists() for folder in self.folders)


_numbers = itertools.count(1)
"""Of the process, not of a factory: several schedulers may run in one process."""


class GroupFactory:
    """Makes groups for slots below this process's own group."""

    def __init__(self) -> None:
        v1 = _v1_roots()
        self._roots = v1 or _v2_roots()
        self._version = 1 if v1 else 2
        for root in self._roots:
            _remove_orphans(root)

    def number(self) -> int:
        """A number that no other slot of this process has."""
        return next(_numbers)

    @property
    def available(self) -> bool:
        """Whether groups with a memory limit can be made here."""
        return bool(self._roots)

    def make(self) -> SlotGroup:
        """A new group; raises ``OSError`` when the kernel refuses."""
        number = self.number()
        folders = []
        for root in self._roots:
            folder = root / f"{_PREFIX}{os.getpid()}-{number}"
            folder.mkdir(exist_ok=True)
            folders.append(folder)
        return SlotGroup(memory=folders[0], version=self._version, folders=tuple(folders))


def _remove_orphans(root: Path) -> None:
    """Remove the empty groups of hosts that were killed; the kernel keeps every group that has a process in it."""
    for folder in root.glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with contextlib.suppress(OSError):
                folder.rmdir()


def _own_paths() -> dict[str, str]:
    paths = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            paths[controller] = path
    return paths


def _v1_roots() -> tuple[Path, ...]:
    try:
        root = _MOUNT / "memory" / _own_paths()["memory"].lstrip("/")
    except (KeyError, OSError):
        return ()
    return (root,) if (root / "memory.limit_in_bytes").exists() and _can_make(root) else ()


def _v2_roots() -> tuple[Path, ...]:
    """The nearest group above us that may have children with a memory limit and lets us move there.

    Our own group cannot: a group with processes in it may not hand controllers down (kernel documentation,
    "no internal process constraint"), unless it is the root of the hierarchy.
    """
    try:
        own = _MOUNT / _own_paths()[""].lstrip("/")
    except (KeyError, OSError):
        return ()
    for root in (own, *own.parents):
        if not root.is_relative_to(_MOUNT):
            break
        try:
            enabled = (root / "cgroup.subtree_control").read_text().split()
        except OSError:
            continue
        if "memory" in enabled and _can_make(root):
            return (root,)
    return ()


def _can_make(root: Path) -> bool:
    """Whether a group can be made there, and a process of ours can move into it."""
    probe = root / f"{_PREFIX}{os.getpid()}-probe-{threading.get_ident()}"
    try:
        probe.mkdir()
    except OSError:
        return False
    joining = f"echo $$ > {shlex.quote(str(probe / 'cgroup.procs'))}"
    joined = subprocess.run(
        ["/bin/sh", "-c", joining], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    with contextlib.suppress(OSError):
        (probe / "cgroup.procs").unlink()  # a real group refuses that, and goes with its folder
    with contextlib.suppress(OSError):
        probe.rmdir()
    return joined.returncode == 0
