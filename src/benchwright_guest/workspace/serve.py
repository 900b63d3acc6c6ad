"""Process 1 of a workspace: does what the host asks, one request after the other.

Requests, with the descriptors they carry, and the answers:

``run`` (body, output[, input])
    Start a command (the body is JSON: ``command``, ``environ``, ``cwd``); ``ended`` follows when it and all that it
    started are dead: wait status, seconds, CPU seconds, peak of watched memory, and whose decision it was:
    ``own``, ``asked`` or ``memory``.
``kill``
    While a command runs: end it.  Ignored otherwise, for it may have ended meanwhile.
``put`` (content), ``get`` (where to), ``remove``
    Files; ``done`` or ``failed`` follows.

The child that will become the next command is forked ahead of time: joining a control group can take the kernel 15 ms.
"""

import errno
import os
import select
import signal
import socket
import time

from . import children, command, files, memory, wire

_WATCH_SECONDS = 0.05
_KILL_SECONDS = 30.0  # for killed processes to be gone; longer only if the machine hangs


class Server:
    """Serves one host over one socket."""

    def __init__(self, control, config, groups):
        self._control = control
        self._config = config
        self._groups = groups
        self._spare = None
        self._link = None
        self._cpu = 0.0
        self._wake = children.wake_up()

    def prepare(self):
        """Fork the process that will become the next command."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            ours.close()
            self._control.close()
            command.become(theirs, self._config, self._groups)
        theirs.close()
        self._spare, self._link = pid, ours

    def serve(self):
        """Serve until the host hangs up; nothing else is alive then."""
        while True:
            request, descriptors = wire.receive(self._control)
            if request is None:
                self._end_all()
                return
            if request["op"] == "run":
                self._run(descriptors)
                self.prepare()
            elif request["op"] != "kill":
                self._file(request, descriptors)

    def _file(self, request, descriptors):
        try:
            answer = files.answer(request, descriptors)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        wire.send(self._control, answer)

    def _run(self, descriptors):
        self._cpu = 0.0
        started = time.monotonic()
        try:
            wire.send(self._link, {}, descriptors)
        except OSError:
            pass  # it is dead, of a lack of memory that earlier commands have left; its wait status says so
        for descriptor in descriptors:
            os.close(descriptor)
        decision, status, peak = self._wait(self._spare)
        seconds = time.monotonic() - started
        late = self._end_all(self._spare)
        status = late if status is None else status
        if not self._started() and os.WIFEXITED(status):
            raise ChildProcessError("a command could not be prepared")
        wire.send(
            self._control,
            {
                "event": "ended", "decision": decision, "status": status,
                "wall": seconds, "cpu": self._cpu, "peak": peak,
            },
        )  # fmt: skip

    def _started(self):
        """Whether the prepared process came as far as to become the command."""
        with self._link as link:
            try:
                return bool(link.recv(1))
            except ConnectionResetError:
                return False

    def _wait(self, main):
        """Until the main process has ended or must be ended: (decision, wait status if it ended, memory peak)."""
        poller = select.poll()
        poller.register(self._control.fileno(), select.POLLIN)
        poller.register(self._wake, select.POLLIN)
        watching = self._config["watch"]
        peak, pause = 0, 0.004
        while True:
            status = self._reap(main)
            if status is not None:
                return "own", status, peak
            events = dict(poller.poll(1000 * pause if watching else None))
            if self._control.fileno() in events:
                request, _ = wire.receive(self._control)
                if request is None:
                    self._end_all()
                    os._exit(0)
                return "asked", None, peak
            children.drain(self._wake)
            if watching:
                peak = max(peak, memory.used(self._config["memory"]))
                pause = min(2 * pause, _WATCH_SECONDS)
                if peak > self._config["memory"]:
                    return "memory", None, peak

    def _reap(self, main):
        """Reap who has ended; the wait status of the main process if it was among them."""
        while True:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
            if not pid:
                return None
            self._cpu += usage.ru_utime + usage.ru_stime
            if pid == main:
                return status

    def _end_all(self, main=None):
        """Kill every other process of the namespace and reap it; the main process's wait status."""
        found = None
        deadline = time.monotonic() + _KILL_SECONDS
        waiter = select.poll()
        waiter.register(self._wake, select.POLLIN)
        while time.monotonic() < deadline:
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass
            try:
                status = self._reap(main)
                found = found if status is None else status
                if status is None:
                    waiter.poll(20)
                    children.drain(self._wake)
            except ChildProcessError:
                return found  # whose parents die are our children: none is left
        raise OSError(errno.EBUSY, "killed processes do not go away")
