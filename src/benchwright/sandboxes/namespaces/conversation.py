"""Requests to a live workspace's guest from any thread, and one thread that reads all answers and all output."""

import contextlib
import itertools
import os
import queue
import select
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

from benchwright.core.errors import SandboxFault
from benchwright.sandboxes.namespaces.guest import Guest
from benchwright.sandboxes.namespaces.streams import Stream

_CLOSE_SECONDS = 2.0  # for the guest to end by itself, before it is killed
_LINGERING = 64
"""Pipes of processes that have outlived their command; beyond, the oldest are closed."""
_FINAL = ("done", "failed", "ended", "no user")


class Exchange:
    """One request, and what comes back."""

    def __init__(self, number: int, streams: Sequence[Stream]) -> None:
        self.number = number
        self.streams = tuple(streams)
        self.answers: queue.SimpleQueue[dict[str, Any] | SandboxFault] = queue.SimpleQueue()

    def next(self, seconds: float) -> dict[str, Any]:
        """The next answer; raises `SandboxFault` when the workspace breaks, is closed, or does not answer in time."""
        try:
            answer = self.answers.get(timeout=max(0.0, seconds))
        except queue.Empty as error:
            raise SandboxFault("the process in charge of a workspace does not answer") from error
        if isinstance(answer, SandboxFault):
            self.answers.put(answer)  # for whoever asks again
            raise SandboxFault(str(answer)) from answer
        return answer


class Conversation:
    """With a guest that is ready; its methods may be called from any thread at any time."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self._numbers = itertools.count(1)
        self._exchanges: dict[int, Exchange] = {}
        self._streams: dict[int, Stream] = {}
        self._lingering: deque[Stream] = deque()
        self._fault: SandboxFault | None = None
        self._closing = False
        # Taken to send and to register.  The reading thread takes it only when nothing can be sent any more, since
        # the guest may wait for it to read before it takes what is sent.
        self._lock = threading.Lock()
        self._poller = select.epoll()
        self._poller.register(guest.fileno(), select.EPOLLIN)
        self._thread = threading.Thread(target=self._read, name="benchwright workspace", daemon=True)
        self._thread.start()

    def begin(
        self, request: dict[str, Any], descriptors: Sequence[int] = (), streams: Sequence[Stream] = ()
    ) -> Exchange:
        """Send a request; streams belong to the conversation from now on.  Raises `SandboxFault`."""
        with self._lock:
            if self._fault is not None:
                for stream in streams:
                    os.close(stream.descriptor)
            self._check()
            exchange = Exchange(next(self._numbers), streams)
            self._exchanges[exchange.number] = exchange
            for stream in streams:
                self._streams[stream.descriptor] = stream
                self._poller.register(stream.descriptor, select.EPOLLIN)
            self._guest.send({**request, "id": exchange.number}, descriptors)
            return exchange

    def tell(self, request: dict[str, Any]) -> None:
        """Send what is not answered; does nothing when there is nobody to tell."""
        with self._lock, contextlib.suppress(SandboxFault):
            self._check()
            self._guest.send(request)

    def _check(self) -> None:
        if self._fault is not None:
            raise SandboxFault(str(self._fault)) from self._fault

    def close(self) -> None:
        """End everything inside and tell whoever waits; calling it again does nothing."""
        self._closing = True
        self._guest.hang_up()
        self._thread.join()
        for stream in list(self._streams.values()):
            self._close(stream)
        self._poller.close()
        self._guest.close(_CLOSE_SECONDS)

    def _read(self) -> None:
        try:
            while True:
                # One event at a time: a later one could be about a descriptor that the former's handling has closed.
                for descriptor, event in self._poller.poll(maxevents=1):
                    self._handle(descriptor, event)
        except BaseException as error:  # noqa: BLE001 - the outermost loop: whoever waits must learn of it
            fault = error if isinstance(error, SandboxFault) else SandboxFault(f"a workspace broke: {error!r}")
            self._break(SandboxFault("the workspace is closed") if self._closing else fault)

    def _handle(self, descriptor: int, event: int) -> None:
        stream = self._streams.get(descriptor)
        if stream is not None and not stream.read(event):
            self._close(stream)
        elif stream is None:
            while (message := self._guest.received()) is not None:
                self._dispatch(message)

    def _dispatch(self, message: dict[str, Any]) -> None:
        if message["event"] == "broken":
            raise SandboxFault(f"a workspace broke: {message['message']}")
        final = message["event"] in _FINAL
        exchange = self._exchanges.pop(message["id"], None) if final else self._exchanges.get(message["id"])
        if exchange is None:
            return  # a command without a user, whose end does not matter
        if final:
            for stream in exchange.streams:
                self._finish(stream)
        exchange.answers.put(message)

    def _finish(self, stream: Stream) -> None:
        if self._streams.get(stream.descriptor) is not stream:
            return
        stream.finish()
        self._lingering.append(stream)
        if len(self._lingering) > _LINGERING:
            self._close(self._lingering[0])

    def _close(self, stream: Stream) -> None:
        del self._streams[stream.descriptor]
        if stream in self._lingering:
            self._lingering.remove(stream)
        self._poller.unregister(stream.descriptor)
        os.close(stream.descriptor)

    def _break(self, fault: SandboxFault) -> None:
        with self._lock:
            self._fault = self._fault or fault
            exchanges, self._exchanges = self._exchanges, {}
        for exchange in exchanges.values():
            exchange.answers.put(self._fault)
