"""What the commands of a live workspace need of their container: ending sessions, and telling why one did not run."""

import threading
import time

from benchwright.core.errors import BenchwrightError, SandboxFault, UsageError
from benchwright.sandboxes.containers.engine import Engine
from benchwright.sandboxes.containers.keeping import Keeper
from benchwright.sandboxes.containers.processes import OwnProcesses
from benchwright.sandboxes.containers.wrapping import END_ALL, END_SESSION, LEADER_OUTPUTS

_NEWS_SECONDS = 30.0  # for the engine to hear of what the kernel did
_PAUSE = 0.02
_KILLED = 137  # 128 and the signal's number

_NO_USER = "unable to find user"
_REFUSED = ("oci runtime", "crun:", "runc:", "no such file or directory", "permission denied", "exec format error")
"""In what an engine says when it tried and the container lacks something: its shell, room for a process, memory."""
_MISSING = ("no such file or directory", "not found")


class LiveContainer:
    """A container in which commands run side by side; a `commands.Care` for them, for any thread."""

    def __init__(
        self, engine: Engine, name: str, processes: OwnProcesses | None, *, most_bytes: int, check_seconds: float | None
    ) -> None:
        """A container that runs.

        Args:
            engine: Its engine.
            name: Its name.
            processes: Its processes, where they are ours.
            most_bytes: What may be written.
            check_seconds: Between two looks at what was written; None where the engine has a quota.
        """
        self.engine = engine
        self.name = name
        self.processes = processes
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._closed = False
        self._removed = False
        self._too_much_written = False
        self._fault: BenchwrightError | None = None
        self._keeper = Keeper(check_seconds, self._look_at_disk)

    def require_open(self) -> None:
        """Raise `SandboxFault` when it is closed, or the engine did not answer a thread of ours."""
        if self._closed:
            raise SandboxFault("the workspace is closed")
        if self._fault is not None:
            raise self._fault

    def close(self) -> None:
        """Remove it; does nothing when that is done.

        Raises `SandboxFault`, with the command that would do it, when the engine does not; calling it again tries
        again.
        """
        with self._lock:
            if self._removed:
                return
            self._closed = True
            try:
                answer = self.engine.call("rm", "-f", "-v", self.name)
            finally:
                self._keeper.close()
            if answer.status != 0 and "no such container" not in answer.errors.lower():
                raise SandboxFault(
                    f"a container is left over ({answer.complaint}); remove it with: "
                    f"{self.engine.client} rm -f {self.name}"
                )
            self._removed = True

    def is_alive(self) -> bool:
        """Whether commands can run; False when the kernel has ended it for memory, which is a command's doing.

        Raises `SandboxFault` when it was ended otherwise, is gone, or the engine does not answer.
        """
        deadline = time.monotonic() + _NEWS_SECONDS
        while True:
            state = self.engine.call("inspect", "--format", "{{.State.Running}} {{.State.OOMKilled}}", self.name)
            self.require_open()
            if state.text.startswith("true ") and not self._is_ending():
                return True
            if state.text == "false true":
                return False
            if state.status != 0 or time.monotonic() > deadline:
                raise SandboxFault(f"a container was ended from outside: {state.errors or self.name}")
            time.sleep(_PAUSE)

    def end(self, leader: int) -> None:
        """End all of a session; raises `SandboxFault`.

        Where that takes the container's shell and this cannot be started (it is gone, or there is no room for a
        process), all that runs in the container is ended.
        """
        if self._closed:
            return
        if self.processes is not None:
            self.release(leader)
            self.processes.end_session(leader)
        else:
            self._run_script(END_SESSION, str(leader))

    def release(self, leader: int) -> None:
        """Take over what a session's leader writes to, so that others can go on writing to it; end the leader."""
        if self.processes is not None:
            self._keeper.add(self.processes.take_outputs(leader, LEADER_OUTPUTS))

    def not_started(self, message: str, status: int) -> int:
        """The status of a command that the engine did not start, or whose shell was killed before its first word.

        Raises `UsageError` for a user that is not there, and `SandboxFault` unless the container is to blame.
        """
        self.require_open()
        if _NO_USER in message.lower():
            raise UsageError(f"A user that the workspace does not have was asked for: {message}")
        if not self.is_alive() or (status == _KILLED and not message):
            return _KILLED
        if not any(words in message.lower() for words in _REFUSED):
            raise SandboxFault(f"the container engine did not run a command: {message}")
        return 127 if any(words in message.lower() for words in _MISSING) else 126

    def broken_off(self) -> str:
        """Why a command's shell has ended without a word; raises `SandboxFault` when that was not done inside."""
        self.require_open()
        if not self.is_alive():
            return "[benchwright: the container ran out of memory and has ended; nothing runs in it any more]\n"
        if self._too_much_written:
            return f"[benchwright: ended, over {self._most_bytes} bytes were written]\n"
        return "[benchwright: ended together with the shell around it]\n"

    def _is_ending(self) -> bool:
        """Whether its own process is gone, of which the engine has not heard yet."""
        return self.processes is not None and self.processes.main not in self.processes.alive()

    def _look_at_disk(self) -> None:
        """End everything when too much was written: somebody else's disk would be full."""
        try:
            size = self.engine.call("inspect", "--size", "--format", "{{.SizeRw}}", self.name).text
            self._too_much_written = size.isdigit() and int(size) > self._most_bytes
            if not self._too_much_written:
                return
            if self.processes is not None:
                self.processes.end_all()
            else:
                self._run_script(END_ALL)
        except BenchwrightError as error:
            self._fault = error  # for whoever asks for something next

    def _run_script(self, script: str, *arguments: str) -> None:
        done = self.engine.call("exec", "-w", "/", self.name, "/bin/sh", "-c", script, "sh", *arguments)
        if done.status != 0 and self.is_alive():
            answer = self.engine.call("restart", "-t", "0", self.name)
            if answer.status != 0:
                raise SandboxFault(f"a container could not be restarted: {answer.complaint}")
