"""What a command writes, kept within bounds."""

import os

_READ_BYTES = 1 << 20


class Output:
    """What a command writes: all of it up to a limit, else about as much of its head and its tail."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def read(self, descriptor: int) -> bool:
        """Read once without waiting; False when nothing is there or nothing more can come."""
        try:
            data = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return False
        self.add(data)
        return bool(data)

    def add(self, data: bytes) -> None:
        """Take what was written next."""
        self.total += len(data)
        room = self.most - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        if len(self._tail) > self.most + _READ_BYTES:
            del self._tail[: -self.most]

    @property
    def kept(self) -> bytes:
        """The output, or its head and tail with a line between that says how much is missing."""
        if self.total <= self.most:
            return bytes(self._head)
        half = self.most // 2
        head, tail = self._head[:half], (self._head + self._tail)[-half:] if half else b""
        missing = self.total - len(head) - len(tail)
        return bytes(head) + b"\n[benchwright: %d bytes left out]\n" % missing + bytes(tail)
