"""Attending to one command in a container: reading what it writes, and having it ended when it passes a limit."""

import os
import selectors
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from benchwright.core.errors import SandboxFault
from benchwright.sandboxes.base import RunLimits
from benchwright.sandboxes.output import Output

CHECK_SECONDS = 10.0
"""Between two looks at what a command has written to disk: one costs the engine a walk over these files."""

_READ_BYTES = 1 << 20
_MESSAGE_BYTES = 1 << 16
_END_SECONDS = 60.0  # for the client to notice that its command is dead: milliseconds
_END_AGAIN_SECONDS = 3.0  # an engine may start a command only after everything was ended


@dataclass(frozen=True, slots=True, kw_only=True)
class Attended:
    """How a command in a container ended, as the engine's client tells it."""

    status: int
    """The client's exit status; 128 and a signal's number added when the command died of one."""
    output: Output
    message: str
    """What the client itself had to say."""
    limit: str
    """``wall_time``, ``output`` or ``scratch`` when it was ended for that; else empty."""
    wall_seconds: float


def attend(
    client: subprocess.Popen[bytes],
    limits: RunLimits,
    *,
    end_all: Callable[[], None],
    too_much_written: Callable[[], bool],
) -> Attended:
    """Read a command's output until it has ended.

    Args:
        client: The engine's client, with pipes for both outputs; standard error is the client's own.
        limits: Time and output.
        end_all: Ends everything in the container; called when the command is over a limit, and again while it goes on.
        too_much_written: Whether the container has written more than it may; asked every `CHECK_SECONDS`.

    Raises `SandboxFault` when the client does not end although its command is dead.
    """
    started = time.monotonic()
    with client, _Reader(client, limits.output_bytes) as reader:
        try:
            limit = _watch(reader, limits, started, too_much_written)
            seconds = time.monotonic() - started
            if limit:
                _end(reader, end_all)
            status = client.wait(_END_SECONDS)
        except subprocess.TimeoutExpired as error:
            client.kill()
            raise SandboxFault("the container engine's client does not end although its command has") from error
        except BaseException:
            client.kill()
            raise
    message = reader.message.decode(errors="replace").strip()
    return Attended(status=status, output=reader.output, message=message, limit=limit, wall_seconds=seconds)


def _watch(reader: "_Reader", limits: RunLimits, started: float, too_much_written: Callable[[], bool]) -> str:
    """Read until the command has ended, or is over the limit that is returned."""
    deadline, check = started + limits.wall_seconds, started + CHECK_SECONDS
    while reader.read(min(deadline, check)):
        now = time.monotonic()
        if reader.output.total > limits.output_bytes:
            return "output"
        if now >= deadline:
            return "wall_time"
        if now >= check:
            if too_much_written():
                return "scratch"
            check = time.monotonic() + CHECK_SECONDS
    return ""


def _end(reader: "_Reader", end_all: Callable[[], None]) -> None:
    """Have everything ended and read what is left; raises `SandboxFault` when that does not help."""
    until = time.monotonic() + _END_SECONDS
    while time.monotonic() < until:
        end_all()
        if reader.finish(min(until, time.monotonic() + _END_AGAIN_SECONDS)):
            return
    raise SandboxFault("a command in a container could not be ended")


class _Reader:
    """Reads both outputs of a client."""

    def __init__(self, client: subprocess.Popen[bytes], most: int) -> None:
        assert client.stdout is not None and client.stderr is not None
        self.output = Output(most)
        self.message = b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(client.stdout, selectors.EVENT_READ, self.output.add)
        self._selector.register(client.stderr, selectors.EVENT_READ, self._add_message)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()

    def _add_message(self, data: bytes) -> None:
        self.message = (self.message + data)[:_MESSAGE_BYTES]

    def read(self, until: float) -> bool:
        """Take what comes next, waiting no longer than to a moment; False once nothing more can come."""
        if not self._selector.get_map():
            return False
        for key, _ in self._selector.select(max(0.0, until - time.monotonic())):
            data = os.read(key.fd, _READ_BYTES)
            if data:
                key.data(data)
            else:
                self._selector.unregister(key.fileobj)
        return bool(self._selector.get_map())

    def finish(self, until: float) -> bool:
        """Read to the end; False when that does not come before a moment."""
        while self.read(until):
            if time.monotonic() >= until:
                return False
        return True
