"""The processes of a container, seen from outside; and ended from there, where the engine runs beside us."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchwright.core.errors import SandboxFault
from benchwright.sandboxes.containers.engine import Engine
from benchwright.sandboxes.containers.groups import ContainerGroup

_IDLE_SECONDS = 20.0  # until the main process alone is there after a start: milliseconds
_END_SECONDS = 60.0  # for killed processes to be gone: milliseconds
_PAUSE = 0.005


def processes_of(engine: Engine, name: str, group: ContainerGroup | None) -> frozenset[int]:
    """All processes of a container, by the engine's list where there is no group to see; none when it has stopped."""
    if group is not None:
        try:
            return group.processes()
        except OSError:
            return frozenset()
    lines = engine.call("top", name, "-eo", "pid").text.splitlines()
    return frozenset(int(line) for line in lines[1:])


def wait_for_main(engine: Engine, name: str, group: ContainerGroup | None, reference: str) -> int:
    """The container's own process, once it is the only one.

    Raises `SandboxFault` when it has ended or is not alone, which is the image's fault; ``reference`` names that.
    """
    deadline = time.monotonic() + _IDLE_SECONDS
    while len(found := processes_of(engine, name, group)) != 1:
        if not found:
            raise SandboxFault(
                f"the main process of a container has ended; the image {reference} needs the `env` of coreutils 8.31 "
                "or newer, or bash"
            )
        if time.monotonic() > deadline:
            raise SandboxFault(f"a container starts with {len(found)} processes instead of one")
        time.sleep(_PAUSE)
    return next(iter(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnProcesses:
    """Those of one container whose processes we may look at and signal; immutable, for any thread."""

    group: ContainerGroup
    main: int
    """The container's own process, by its id on this machine, as all ids here but those of sessions."""

    @classmethod
    def of(cls, group: ContainerGroup | None, main: int) -> "OwnProcesses | None":
        """None when the processes are not ours to see, or to signal, or to take the pipes of."""
        try:
            os.kill(main, 0)
            Path(f"/proc/{main}/fd/0").stat()
        except OSError:
            return None
        return None if group is None else cls(group=group, main=main)

    def alive(self) -> frozenset[int]:
        """All of them; none when the container has stopped."""
        try:
            return self.group.processes()
        except OSError:
            return frozenset()

    def _commands(self) -> frozenset[int]:
        """All but the container's own process, whatever a shell of the agent's says of its session."""
        return self.alive() - {self.main}

    def end_session(self, leader: int) -> None:
        """Kill all of a session; raises `SandboxFault` when that does not work.

        Args:
            leader: The session's id inside the container.
        """
        self._end(lambda: frozenset(pid for pid in self._commands() if _inside(pid, "NSsid") == leader))

    def end_all(self) -> None:
        """Kill all but the container's own process; raises `SandboxFault` when that does not work."""
        self._end(self._commands)

    def take_outputs(self, leader: int, names: Sequence[str]) -> list[int]:
        """Descriptors that read from pipes which a session's leader writes to; the leader is killed.

        Whoever inherited these pipes can go on writing when the engine stops reading.  Empty when the leader is gone.

        Args:
            leader: The leader's id inside the container.
            names: Its descriptors.
        """
        for pid in self._commands():
            if _inside(pid, "NSpid") == leader:
                taken = []
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    for name in names:
                        place = f"/proc/{pid}/fd/{name}"
                        if Path(place).is_fifo():  # a shell of the agent's may have put anything there
                            taken.append(os.open(place, os.O_RDONLY | os.O_NONBLOCK))
                _signal(pid, signal.SIGKILL)
                return taken
        return []

    def _end(self, members: Callable[[], frozenset[int]]) -> None:
        """Stop them before killing: those that are stopped cannot fork, but count, so that none forks faster than this.

        Pausing the container instead would have the engine refuse to start other commands meanwhile.
        """
        deadline = time.monotonic() + _END_SECONDS
        while members():
            stopped: frozenset[int] = frozenset()
            while new := members() - stopped:
                for pid in new:
                    _signal(pid, signal.SIGSTOP)
                stopped |= new
            for pid in stopped:
                _signal(pid, signal.SIGKILL)
            while stopped & members():
                if time.monotonic() > deadline:
                    raise SandboxFault("killed processes of a container do not go away")
                time.sleep(_PAUSE)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def _inside(pid: int, field: str) -> int | None:
    """An id of a process as seen in the innermost process namespace; None when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return next((int(line.split()[-1]) for line in lines if line.startswith(f"{field}:")), None)
