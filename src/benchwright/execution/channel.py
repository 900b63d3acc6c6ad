"""The host's end of the private channel: frames in, verified; the protocol is in `benchwright_guest.frames`."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from benchwright_guest import frames

_sign: Callable[[bytes, int, bytes], bytes] = frames.sign  # the guest keeps to Python 3.8 without annotations


class FrameReader:
    """Takes bytes as they come and keeps the messages whose signatures hold.

    Reading stops for good at the first frame that no honest driver sends; `errors` then says what it was.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._buffer = bytearray()
        self._sequence = 0
        self._messages: list[dict[str, Any]] = []
        self._errors: list[str] = []

    @property
    def messages(self) -> Sequence[dict[str, Any]]:
        """Verified messages so far, in order."""
        return self._messages

    @property
    def errors(self) -> tuple[str, ...]:
        """Why reading stopped, or empty."""
        return tuple(self._errors)

    def feed(self, data: bytes) -> None:
        """Add bytes read from the channel."""
        if self._errors:
            return
        self._buffer += data
        while not self._errors and self._take_frame():
            pass

    def end(self, *, killed: bool = False) -> None:
        """Say that the channel is closed.

        A frame cut off in the middle is an error, unless we killed the process: it may have been writing.
        """
        if self._buffer and not self._errors and not killed:
            self._errors.append(f"the channel ended inside frame {self._sequence}")

    def _take_frame(self) -> bool:
        start = frames.HEADER.size + frames.SIGNATURE_BYTES
        if len(self._buffer) < frames.HEADER.size:
            return False
        (length,) = frames.HEADER.unpack_from(self._buffer)
        if length > frames.MAX_FRAME_BYTES:
            self._errors.append(f"frame {self._sequence} claims {length} bytes")
            return False
        if len(self._buffer) < start + length:
            return False
        signature = bytes(self._buffer[frames.HEADER.size : start])
        payload = bytes(self._buffer[start : start + length])
        del self._buffer[: start + length]
        if signature != _sign(self._key, self._sequence, payload):
            self._errors.append(f"frame {self._sequence} is not signed by the driver")
            return False
        self._sequence += 1
        self._messages.append(json.loads(payload))
        return True
