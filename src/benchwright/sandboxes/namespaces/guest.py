"""The process inside a workspace, as the host sees it: started, asked, waited for."""

import contextlib
import errno
import fcntl
import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchwright.core.errors import IsolationRefusedError, SandboxFault
from benchwright.sandboxes.output import Output

_START_SECONDS = 120.0  # 30 ms on a quiet machine; nothing but a hanging machine takes this long
_ANSWER_SECONDS = 300.0  # to write or read a file
_END_SECONDS = 60.0  # past the moment a command had to end; the guest gives up on the dead after half of it
_MESSAGE_BYTES = 1 << 17
_PIPE_BYTES = 1 << 20


class Guest:
    """One guest; every method raises `SandboxFault` when it is gone or does not answer, and must not be used then."""

    def __init__(self, config: dict[str, Any]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._pid: int | None = None
        command = [sys.executable, "-I", "-S", "-X", "utf8", str(_program()), str(theirs.fileno())]
        try:
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                # An interpreter may need its libraries found; the process inside lets nobody read its environment.
                env={name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ},
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            self._errors.close()
            raise SandboxFault(f"the guest could not be started: {error}") from error
        finally:
            theirs.close()
        self._config = config

    def start(self) -> dict[str, Any]:
        """Wait until the workspace is there; raises `IsolationRefusedError` when the kernel refuses a part of it."""
        self.send(self._config, ())
        deadline = time.monotonic() + _START_SECONDS
        while True:
            message = self._receive(deadline)
            match message["event"]:
                case "launched":
                    self._pid = int(message["pid"])
                case "ready":
                    return message
                case "refused":
                    raise IsolationRefusedError(
                        f"This machine refuses what a workspace of the namespace sandbox needs: {message['message']}; "
                        "run `bw doctor` for what it allows, or use the docker sandbox."
                    )
                case _:
                    raise SandboxFault(f"a workspace could not be made: {message['message']}")

    def fileno(self) -> int:
        """The socket, for polling."""
        return self._control.fileno()

    def ask(self, request: dict[str, Any], descriptors: Sequence[int] = ()) -> dict[str, Any]:
        """Send a request about a file and wait for the answer."""
        self.send(request, descriptors)
        return self._receive(time.monotonic() + _ANSWER_SECONDS)

    def run(self, descriptors: Sequence[int], output: int, *, wall_seconds: float, most: int) -> "Ended":
        """Run a command and read what it writes, until it has ended or is over a limit.

        Args:
            descriptors: What to run, the writing end of its output, and its input if it has any.
            output: The reading end; as long as the writing one stays open here, it never comes to an end.
            wall_seconds: When to end the command.
            most: Bytes of output after which to end it.
        """
        self.send({"op": "run"}, descriptors)
        collected = Output(most)
        poller = select.poll()
        poller.register(output, select.POLLIN)
        poller.register(self._control.fileno(), select.POLLIN)
        deadline = time.monotonic() + wall_seconds
        ending = False
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or (not ending and collected.total > most):
                if ending:
                    raise SandboxFault("a command could not be ended")
                ending = True
                self.send({"op": "kill"}, ())
                deadline = time.monotonic() + _END_SECONDS
                continue
            events = dict(poller.poll(1000 * min(left, 3600.0) + 1))
            if output in events:
                collected.read(output)
            if self._control.fileno() in events:
                message = self._receive(deadline)
                if message["event"] != "ended":
                    raise SandboxFault(f"a workspace broke: {message.get('message', message)}{self._last_words()}")
                while collected.read(output):
                    pass
                return Ended(message, collected)

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        """Send a request without waiting for an answer."""
        try:
            socket.send_fds(self._control, [json.dumps(message).encode()], descriptors)
        except OSError as error:
            raise SandboxFault(f"the process in charge of a workspace is gone: {error}{self._last_words()}") from error

    def _receive(self, deadline: float) -> dict[str, Any]:
        self._control.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            data = self._control.recv(_MESSAGE_BYTES)
        except TimeoutError as error:
            raise SandboxFault("the process in charge of a workspace does not answer") from error
        except OSError as error:
            raise SandboxFault(f"the process in charge of a workspace is gone: {error}") from error
        finally:
            self._control.settimeout(None)
        return self._parsed(data)

    def received(self) -> dict[str, Any] | None:
        """The next message if there is one; for use without the methods that wait."""
        try:
            data = self._control.recv(_MESSAGE_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        except OSError as error:
            raise SandboxFault(f"the process in charge of a workspace is gone: {error}") from error
        return self._parsed(data)

    def _parsed(self, data: bytes) -> dict[str, Any]:
        if not data:
            raise SandboxFault(f"the process in charge of a workspace ended{self._last_words()}")
        message: dict[str, Any] = json.loads(data)
        return message

    def _last_words(self) -> str:
        self._errors.seek(0)
        words = self._errors.read().decode("utf-8", "replace").strip()
        return f": {words[-600:]}" if words else ""

    def hang_up(self) -> None:
        """Have everything inside end, without waiting for it; nothing more can be sent or received."""
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)  # a fork of this process may hold the socket, too

    def close(self, patience: float | None = None) -> None:
        """Hang up and wait until every process inside is gone; calling it again does nothing.

        The guest is killed, and with it everything inside, if it has not ended after some seconds of patience.
        """
        self.hang_up()
        self._control.close()
        if not self._ended(_END_SECONDS if patience is None else patience) and self._pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)  # its parent has not reaped it, so the id is still its own
            self._ended(_END_SECONDS)
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def _ended(self, seconds: float) -> bool:
        """Whether the launcher ends within some seconds; unlike `subprocess.Popen.wait`, without sleeping."""
        if self._process.poll() is not None:
            return True
        descriptor = os.pidfd_open(self._process.pid)
        try:
            return bool(select.select([descriptor], [], [], seconds)[0])
        finally:
            os.close(descriptor)


class Ended:
    """How a command ended."""

    def __init__(self, message: dict[str, Any], output: Output) -> None:
        self.decision = str(message["decision"])
        """``own``, ``asked`` or ``memory``."""
        status = message["status"]
        self.status = None if status is None else os.waitstatus_to_exitcode(status)
        self.wall_seconds = float(message["wall"])
        self.cpu_seconds = float(message["cpu"])
        self.memory_peak_bytes = int(message["peak"])
        self.output = output


def memory_file(data: bytes) -> int:
    """A descriptor to read data from."""
    descriptor = os.memfd_create("benchwright", os.MFD_CLOEXEC)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def output_pipe() -> tuple[int, int]:
    """A pipe whose reading end does not wait, as large as the kernel grants."""

    reading, writing = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(reading, False)
    os.fchmod(writing, 0o666)  # root inside is another user than here, and may open /dev/stdout anew
    try:
        fcntl.fcntl(reading, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EBUSY):
            raise
    return reading, writing


def _program() -> Path:
    """The guest's entry point; found as a file, for the host shares no import with the guest."""
    found = importlib.util.find_spec("benchwright_guest")
    if found is None or found.origin is None:
        raise SandboxFault("the package benchwright_guest is not installed next to benchwright")
    return Path(found.origin).resolve().parent / "workspace" / "__main__.py"
