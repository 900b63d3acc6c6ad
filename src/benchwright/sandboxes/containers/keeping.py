"""A thread that a live workspace has: reads what left processes write, and looks at what was written to disk."""

import contextlib
import os
import selectors
import threading
import time
from collections.abc import Callable, Iterable

_READ_BYTES = 1 << 20


class Keeper:
    """Reads pipes to their ends and throws away what comes, and does something at intervals; closed by its owner."""

    def __init__(self, every_seconds: float | None, look: Callable[[], None]) -> None:
        """Args: ``look`` is called every so many seconds, from the thread; never when that is None."""
        self._every = every_seconds
        self._look = look
        self._wake, self._waken = os.pipe()
        self._lock = threading.Lock()
        self._new: list[int] = []
        self._closed = False
        self._thread = threading.Thread(target=self._run, daemon=True, name="keeper of a live workspace")
        self._thread.start()

    def add(self, descriptors: Iterable[int]) -> None:
        """Read from these, which do not block, until they end; they are closed then."""
        with self._lock:
            if not self._closed:
                self._new += descriptors
                os.write(self._waken, b"x")
                return
        for descriptor in descriptors:
            os.close(descriptor)

    def close(self) -> None:
        """End the thread and close what it reads."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            os.write(self._waken, b"x")
        self._thread.join()
        os.close(self._wake)
        os.close(self._waken)

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake, selectors.EVENT_READ)
            next_look = time.monotonic() + (self._every or 0.0)
            while not self._closed:
                wait = None if self._every is None else max(0.0, next_look - time.monotonic())
                for key, _ in selector.select(wait):
                    self._read(selector, key.fd)
                if self._every is not None and time.monotonic() >= next_look:
                    self._look()
                    next_look = time.monotonic() + self._every
            selector.unregister(self._wake)
            for descriptor in [*(key.fd for key in selector.get_map().values()), *self._new]:
                os.close(descriptor)

    def _read(self, selector: selectors.BaseSelector, descriptor: int) -> None:
        if descriptor == self._wake:
            os.read(self._wake, _READ_BYTES)
            with self._lock:
                new, self._new = self._new, []
            for added in new:
                try:
                    selector.register(added, selectors.EVENT_READ)
                except OSError:
                    os.close(added)  # nothing that can be waited for, and so nothing that anybody waits on
            return
        with contextlib.suppress(BlockingIOError):  # the engine was there first
            if not os.read(descriptor, _READ_BYTES):
                selector.unregister(descriptor)
                os.close(descriptor)
