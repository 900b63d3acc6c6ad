"""One container as a workspace: commands by ``exec``, files by the engine's ``cp``."""

import contextlib
import os
import signal
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from benchwright.core.errors import SandboxFault, UsageError
from benchwright.core.execution import ExitCause
from benchwright.sandboxes.base import Image, RunLimits, RunResult, WorkspaceLimits
from benchwright.sandboxes.containers.copies import ContainerFiles, NotHandedOutError
from benchwright.sandboxes.containers.engine import Engine
from benchwright.sandboxes.containers.execs import Attended, attend
from benchwright.sandboxes.containers.files import absolute
from benchwright.sandboxes.containers.groups import ContainerGroup, Usage
from benchwright.sandboxes.containers.processes import processes_of, wait_for_main

_END_SECONDS = 60.0  # for killed processes to be gone
_NEWS_SECONDS = 30.0  # for the engine to hear of what the kernel did
_LEAVING_TRIES, _LEAVING_PAUSE = 10, 0.01  # for processes that are about to end anyway

_RUN = 'exec 2>&1; cd -- "$1" || exit 127; shift; exec "$@"'
"""Joins the two outputs inside, since the engine forwards them apart and loses their order."""

_PROBE = ("/proc/1/exe", "--version")
"""The main process's own program as it was at the start: ends with 0 whatever a command has put in its place."""
_NO_PROGRAM = ("no such file or directory", "not found", "permission denied", "exec format error")
"""What an engine says when it is the container that lacks something."""
_ENGINE_STATUSES = (125, 126, 127)
"""What a client ends with when the engine could not start a command; a shell's 126 and 127 look the same."""


class DockerWorkspace:
    """A container; made by `DockerSandbox.open`.  Its methods may be called from any thread, one at a time.

    Files that are put or removed go to the container together, before the next command or reading, and a fault shows
    then.  Places that are mounts of their own (``/dev/shm``, ``/proc``, ``/sys``) cannot be written or read so.
    """

    def __init__(
        self, engine: Engine, name: str, group: ContainerGroup | None, image: Image, limits: WorkspaceLimits
    ) -> None:
        self._engine = engine
        self._name = name
        self._files = ContainerFiles(engine, name)
        self._group = group
        self._image = image
        self._limits = limits
        self._idle: frozenset[int] = frozenset()
        self._writes: dict[str, tuple[bytes, int]] = {}
        self._removals: dict[str, None] = {}
        self._dead = False
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(
        self,
        command: Sequence[str],
        *,
        limits: RunLimits,
        environ: Mapping[str, str] | None = None,
        cwd: str | None = None,
        stdin: bytes = b"",
    ) -> RunResult:
        """Run a command to its end; see `benchwright.sandboxes.base.Workspace.run`.

        A program that is not there ends with status 127, one that cannot be started with 126.  A status from 129 to
        192 counts as the signal that it stands for in a shell: the engine's client does not tell them apart.
        """
        arguments = ["exec", "-w", "/", *(("-i",) if stdin else ()), *variables(environ or {})]
        arguments += [self._name, "/bin/sh", "-c", _RUN, "sh", cwd or self._image.workdir, *command]
        if not command or any("\0" in text for text in arguments):
            raise UsageError("A command needs a program, and no NUL character in it, its variables or its folder.")
        self._flush()
        if self._dead:
            return _nothing_ran()
        if self._group is not None:
            self._group.forget_peak()
        used = [self._usage()]

        def end_all() -> None:
            used.append(self._usage())  # a restart makes new groups
            self._end_all()

        client = self._engine.start(arguments, stdin=stdin)
        attended = attend(client, limits, end_all=end_all, too_much_written=self._too_much_written)
        used.append(self._usage())
        self._end_survivors()
        self._check(attended)
        out_of_memory = self._dead or used[1].kills > used[0].kills
        return _result(attended, used[0], used[1], self._limits, out_of_memory=out_of_memory)

    def put(self, path: str, data: bytes, *, mode: int = 0o644) -> None:
        """Write a file; see `benchwright.sandboxes.base.Workspace.put`.

        Links among the parent folders are followed, inside.
        """
        self._require_open()
        self._writes[absolute(path)] = (data, mode)

    def remove(self, path: str) -> None:
        """Remove a file or link if it is there; a folder stays."""
        self._require_open()
        self._writes.pop(absolute(path), None)
        self._removals[path] = None

    def get(self, path: str, *, max_bytes: int = 64 * 1024**2) -> bytes | None:
        """The bytes of a regular file; see `benchwright.sandboxes.base.Workspace.get`."""
        self._flush()
        try:
            return self._files.read(path, max_bytes)
        except NotHandedOutError as error:
            if not self._answers():
                raise SandboxFault(f"the container engine did not hand out {path}: {error}") from error
            return None

    def stamp(self, path: str) -> str | None:
        """Whether a file was touched, seen from outside; None where the container's processes are not ours to see."""
        self._flush()
        for pid in sorted(self._idle):
            with contextlib.suppress(OSError):
                status = os.lstat(f"/proc/{pid}/root{path}")
                return f"{status.st_mode}:{status.st_ino}:{status.st_ctime_ns}:{status.st_size}"
        return None

    def close(self) -> None:
        """End every process and remove what was written; calling it again does nothing.

        Raises `SandboxFault`, with the command that would do it, when the engine does not.
        """
        if self._closed:
            return
        self._closed = True
        answer = self._engine.call("rm", "-f", "-v", self._name)
        if answer.status != 0 and "no such container" not in answer.errors.lower():
            raise SandboxFault(
                f"a container is left over ({answer.complaint}); remove it with: "
                f"{self._engine.client} rm -f {self._name}"
            )

    def _require_open(self) -> None:
        if self._closed:
            raise SandboxFault("the workspace is closed")

    def _flush(self) -> None:
        """Do what was asked of files since the last time."""
        self._require_open()
        removals, writes = list(self._removals), dict(self._writes)
        self._removals.clear()
        self._writes.clear()
        if removals and not self._dead:
            self._files.remove(removals)
        if writes:
            self._files.write(writes)

    def _usage(self) -> Usage:
        try:
            return Usage() if self._group is None else self._group.usage()
        except OSError:
            return Usage()  # the groups are gone with the container's last process

    def _processes(self) -> frozenset[int]:
        """All processes in the container; none when it has stopped."""
        return processes_of(self._engine, self._name, self._group)

    def wait_until_idle(self) -> None:
        """Learn which process is the container's own; called by the sandbox, once it has started."""
        self._idle = frozenset({wait_for_main(self._engine, self._name, self._group, self._image.reference)})

    def _end_survivors(self) -> None:
        """Make sure that nothing lives that a command has started."""
        for _ in range(_LEAVING_TRIES):
            alive = self._processes()
            if alive == self._idle:
                return
            if not self._idle <= alive:
                self._dead = True
                return
            time.sleep(_LEAVING_PAUSE)
        self._end_all()

    def _end_all(self) -> None:
        """End every process but the container's own."""
        if self._group is None or not self._kill_from_outside():
            self._restart()
            return
        deadline = time.monotonic() + _END_SECONDS
        while (alive := self._processes()) > self._idle:
            if time.monotonic() > deadline:
                raise SandboxFault("killed processes of a container do not go away")
            time.sleep(_LEAVING_PAUSE)
        self._dead = alive != self._idle

    def _kill_from_outside(self) -> bool:
        """Kill them while the container is frozen, so that none can fork meanwhile; False when we may not."""
        if self._engine.call("pause", self._name).status != 0:
            return not self._idle <= self._processes()  # it has stopped
        try:
            for pid in self._processes() - self._idle:
                kill(pid)
        except PermissionError:
            return False
        finally:
            self._engine.call("unpause", self._name)
        return True

    def _restart(self) -> None:
        """End everything, keep the files.

        The second choice, since the main process is the image's ``sleep``, which a command may have replaced.
        """
        answer = self._engine.call("restart", "-t", "0", self._name)
        if answer.status != 0:
            raise SandboxFault(f"a container could not be restarted: {answer.complaint}")
        self.wait_until_idle()

    def _too_much_written(self) -> bool:
        size = self._engine.call("inspect", "--size", "--format", "{{.SizeRw}}", self._name).text
        return size.isdigit() and int(size) > self._limits.scratch_bytes

    def _check(self, attended: Attended) -> None:
        """Raise `SandboxFault` when a command failed because the engine did not run it.

        The client's words and status are no proof, for a command may use the same; whether the engine can start a
        program in this container is.  The main process cannot be ended from inside, except that a command may have the
        kernel choose it when memory runs out.
        """
        if self._dead:
            self._require_out_of_memory()
            return
        suspicious = attended.message or attended.status in _ENGINE_STATUSES or attended.status < 0
        if suspicious and not attended.limit and not self._answers():
            said = attended.message or attended.output.kept[:500].decode(errors="replace").strip()
            raise SandboxFault(f"the container engine did not run a command: {said}")

    def _require_out_of_memory(self) -> None:
        """Raise `SandboxFault` unless the engine says that the kernel ended the main process for memory."""
        deadline = time.monotonic() + _NEWS_SECONDS
        while True:
            state = self._engine.call("inspect", "--format", "{{.State.OOMKilled}}", self._name)
            if state.text == "true":
                return
            if state.status != 0 or time.monotonic() > deadline:
                raise SandboxFault(f"a container was ended from outside: {state.errors or self._name}")
            time.sleep(_LEAVING_PAUSE)

    def _answers(self) -> bool:
        """Whether the engine starts programs in this container, or, after its end, still knows it."""
        if self._dead:
            return self._engine.call("inspect", "--format", "{{.Id}}", self._name).status == 0
        answer = self._engine.call("exec", "-w", "/", self._name, *_PROBE)
        if answer.status == 0:
            return True
        if not any(words in answer.complaint.lower() for words in _NO_PROGRAM):
            return False
        # The engine tried, and nothing can be started in there any more: a command has taken the loader away.
        return self._engine.call("inspect", "--format", "{{.State.Running}}", self._name).text == "true"


def kill(pid: int) -> None:
    """Kill a process of this machine if it still is there; raises ``PermissionError``."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def variables(environ: Mapping[str, str]) -> list[str]:
    """Arguments that set environment variables; raises `UsageError` for a name that none can have."""
    for name in environ:
        if not name or "=" in name:
            raise UsageError(f"An environment variable cannot be called {name!r}.")
    return [word for name, value in environ.items() for word in ("-e", f"{name}={value}")]


def _nothing_ran() -> RunResult:
    return RunResult(
        exit_cause=ExitCause.SIGNAL,
        exit_status=-signal.SIGKILL,
        output=b"[benchwright: an earlier command had the kernel end the container; nothing runs in it any more]\n",
        output_total_bytes=0,
        wall_seconds=0.0,
        cpu_seconds=0.0,
        memory_peak_bytes=0,
    )


def _result(
    attended: Attended, before: Usage, after: Usage, limits: WorkspaceLimits, *, out_of_memory: bool
) -> RunResult:
    note = f"\n[benchwright: ended, over {limits.scratch_bytes} bytes were written]\n"
    return RunResult(
        exit_cause=_exit_cause(attended, out_of_memory=out_of_memory),
        exit_status=_exit_status(attended),
        output=attended.output.kept + (note.encode() if attended.limit == "scratch" else b""),
        output_total_bytes=attended.output.total,
        wall_seconds=attended.wall_seconds,
        cpu_seconds=max(0.0, after.cpu_seconds - before.cpu_seconds),
        memory_peak_bytes=after.peak_bytes,
    )


def _exit_status(attended: Attended) -> int:
    return 128 - attended.status if 128 < attended.status <= 192 else attended.status


def _exit_cause(attended: Attended, *, out_of_memory: bool) -> ExitCause:
    match attended.limit:
        case "output":
            return ExitCause.OUTPUT
        case "wall_time":
            return ExitCause.WALL_TIME
        case "scratch":
            return ExitCause.SIGNAL
    if out_of_memory and attended.status != 0:
        return ExitCause.MEMORY
    if _exit_status(attended) < 0:
        return ExitCause.SIGNAL
    return ExitCause.FINISHED if attended.status == 0 else ExitCause.EXITED
