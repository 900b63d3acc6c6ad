"""A command of a live workspace: a thread that reads what it writes and ends it when its time is over."""

import os
import selectors
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Protocol

from benchwright.core.errors import SandboxFault
from benchwright.sandboxes.base import LiveResult, RunLimits
from benchwright.sandboxes.containers.engine import CALL_SECONDS
from benchwright.sandboxes.containers.wrapping import MarkedOutput
from benchwright.sandboxes.output import Output

_READ_BYTES = 1 << 20
_END_SECONDS = (
    3.0  # for the client to hand on the last of a killed command; Docker takes 2 s when others hold its pipes
)


class Care(Protocol):
    """What a workspace does for its commands."""

    def end(self, leader: int) -> None:
        """End all of a session."""

    def release(self, leader: int) -> None:
        """Take over the outputs of a session whose command has ended."""

    def not_started(self, message: str, status: int) -> int:
        """The status of a command that has not begun, by the words and the status of the engine's client.

        Raises when that is a fault.
        """

    def broken_off(self) -> str:
        """Why a command ended without a word, as a note for its output, or nothing; raises when that is a fault."""


class LiveCommand:
    """A started command; see `benchwright.sandboxes.base.LiveProcess`."""

    def __init__(
        self, client: subprocess.Popen[bytes], token: str, limits: RunLimits, *, merged: bool, care: Care
    ) -> None:
        """Args: ``client`` is the engine's, with pipes, running a command that is `wrapping.wrapped` with the token."""
        self._client = client
        self._seconds = limits.wall_seconds
        self._merged = merged
        self._care = care
        self._outputs = MarkedOutput(token, limits.output_bytes, begins=False)
        self._errors = MarkedOutput(token, limits.output_bytes, begins=True)
        self._begun = threading.Event()
        self._ended = threading.Event()
        self._killed = False
        self._result: LiveResult | None = None
        self._failure: BaseException | None = None
        threading.Thread(target=self._attend, daemon=True, name=f"command {client.pid}").start()

    def wait_until_begun(self) -> None:
        """Come back when the command is running or over; raises what `Care.not_started` does."""
        self._begun.wait()
        if self._failure is not None and self._errors.leader is None:
            raise self._failure

    def wait(self) -> LiveResult:
        """Wait for its end."""
        self._ended.wait()
        if self._failure is not None:
            raise self._failure
        assert self._result is not None
        return self._result

    def kill(self) -> None:
        """End it and all it has started that is of its session; does nothing when it has ended."""
        if self._errors.leader is not None and not self._ended.is_set():
            self._killed = True
            self._care.end(self._errors.leader)
            self._ended.wait()

    def _attend(self) -> None:
        try:
            with self._client:
                try:
                    self._result = self._follow()
                finally:
                    self._client.kill()
        except BaseException as error:  # noqa: BLE001 - raised again where the command is waited for
            self._failure = error
        finally:
            self._begun.set()
            self._ended.set()

    def _follow(self) -> LiveResult:
        with selectors.DefaultSelector() as selector:
            for stream, marked in ((self._client.stdout, self._outputs), (self._client.stderr, self._errors)):
                assert stream is not None
                selector.register(stream, selectors.EVENT_READ, marked)
            if not self._read(selector, CALL_SECONDS, lambda: self._errors.leader is not None):
                raise SandboxFault(f"the container engine did not start a command within {CALL_SECONDS:.0f} s")
            started = time.monotonic()
            if self._errors.leader is None:
                return self._not_started()
            self._begun.set()
            in_time = self._read(selector, self._seconds, self._has_ended)
            seconds = time.monotonic() - started
            if not in_time:
                self._care.end(self._errors.leader)
                self._read(selector, _END_SECONDS, lambda: False)
                return self._make_result(None, seconds, timed_out=True)
            if self._has_ended():
                self._care.release(self._errors.leader)
                return self._make_result(self._outputs.status, seconds)
            return self._broken_off(seconds)

    def _has_ended(self) -> bool:
        return self._outputs.status is not None and self._errors.status is not None

    def _read(self, selector: selectors.BaseSelector, seconds: float, done: Callable[[], bool]) -> bool:
        """Read until something is done or nothing more can come; False when the time is over before."""
        until = time.monotonic() + seconds
        while not done():
            if not selector.get_map():
                return True
            if time.monotonic() >= until:
                return False
            for key, _ in selector.select(max(0.0, until - time.monotonic())):
                data = os.read(key.fd, _READ_BYTES)
                if data:
                    key.data.add(data)
                else:
                    key.data.finish()
                    selector.unregister(key.fileobj)
        return True

    def _not_started(self) -> LiveResult:
        ended = self._client.wait()
        said = self._errors.message + self._outputs.output.kept  # Docker says on the one that its runtime said no
        message = said.decode(errors="replace").strip()
        status = self._care.not_started(message, ended)
        self._outputs.output = Output(_READ_BYTES)
        return self._make_result(status, 0.0, note=f"{message}\n" if message else self._care.broken_off())

    def _broken_off(self, seconds: float) -> LiveResult:
        """The client has ended, and the shell has not said that the command did: somebody killed it."""
        status = self._client.wait()
        note = self._care.broken_off()
        return self._make_result(128 + 9 if self._killed else status, seconds, note="" if self._killed else note)

    def _make_result(
        self, status: int | None, seconds: float, *, timed_out: bool = False, note: str = ""
    ) -> LiveResult:
        stdout, stderr = self._outputs.output, self._errors.output
        (stdout if self._merged else stderr).add(note.encode())
        return LiveResult(
            exit_status=128 - status if status is not None and 128 < status <= 192 else status,
            stdout=stdout.kept,
            stderr=stderr.kept,
            stdout_total_bytes=stdout.total,
            stderr_total_bytes=stderr.total,
            timed_out=timed_out,
            wall_seconds=seconds,
        )
