"""One session's connection to the host: lines of JSON on a Unix socket.

Nothing here raises into a test runner: when the connection breaks, the session is silent from then on.
"""

import _socket  # the C type: nobody can put another method into it, and ``socket`` itself is often patched by tests
import fcntl
import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SEND_SECONDS = 30
"""How long a line may wait; the host reads at once, so that this only ends a hang."""
LOWEST_DESCRIPTOR = 100
"""Tests count descriptors or expect the next free one; above this they meet nobody."""
DETAIL_CHARACTERS = 1000
_encode, _getpid, _close = json.JSONEncoder().encode, os.getpid, os.close


class Channel:
    """Announces a session, then says what each test did; used by the process that made it, not by its forks."""

    def __init__(self, path: str, runner: str, version: str, root: str) -> None:
        self.tests = 0
        """How many tests were reported."""
        self._pid = _getpid()
        self._descriptor = _connected(path)
        self._say({"session": {"runner": runner, "version": version, "root": root}})

    def test(self, names: "list[str]", outcome: str, detail: str = "") -> None:
        """Report one test; the first name is its id."""
        names = _unique(names)
        self.tests += 1
        self._say({"test": names[0], "names": names, "outcome": outcome, "detail": detail[:DETAIL_CHARACTERS]})

    def interference(self, what: str) -> None:
        """Report that the runner was changed under way."""
        self._say({"interference": what[:DETAIL_CHARACTERS]})

    def close(self, status: "int | None") -> None:
        """Say that the session is over, with the exit status where it is known."""
        self._say({"closed": {"tests": self.tests, "status": status}})
        if self._descriptor is not None and self._pid == _getpid():
            _close(self._descriptor)
            self._descriptor = None

    def _say(self, line: "dict[str, Any]") -> None:
        if self._descriptor is None or self._pid != _getpid():
            return
        try:
            _send(self._descriptor, _encode(line).encode("ascii") + b"\n")
        except Exception:
            self._descriptor = None  # left open: by now the number may be a stranger's


def _unique(names: "list[str]") -> "list[str]":
    found = []  # type: list[str]
    for name in names:
        if name not in found:
            found.append(name)
    return found


def _connected(path: str) -> "int | None":
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(SEND_SECONDS)
        connection.connect(path)
    except Exception:
        connection.close()
        return None
    try:
        descriptor = fcntl.fcntl(connection.fileno(), fcntl.F_DUPFD_CLOEXEC, LOWEST_DESCRIPTOR)
    except OSError:  # the limit of descriptors is lower than that
        return connection.detach()
    connection.close()
    return descriptor


def _send(descriptor: int, data: bytes) -> None:
    """Send over a descriptor; an error, not a write into a stranger's file, where a test has closed and reused it."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, descriptor)
    try:
        connection.settimeout(SEND_SECONDS)
        connection.sendall(data, _socket.MSG_NOSIGNAL)
    finally:
        connection.detach()
