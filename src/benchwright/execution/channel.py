"""The host's end of the private channel: frames in, verified; the protocol is in `benchwright_guest.frames`."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchwright.core.execution import TestOutcome
from benchwright_guest import frames

_MAX_MESSAGES = 20_000
"""Of one job; 1,024 tests, their notes and fixtures stay far below."""
_MAX_BYTES = 16 << 20
_FIELDS: Mapping[str, Mapping[str, tuple[type, ...]]] = {
    "started": {},
    "setup_failed": {"message": (str,)},
    "load_error": {
        "phase": (str,), "exception": (str,), "message": (str,), "line": (int, type(None)),
        "missing_module": (str, type(None)),
    },
    "note": {"level": (str,), "what": (str,)},
    "test": {
        "id": (str,), "outcome": (str,), "seconds": (int, float), "exception": (str,), "message": (str,),
        "missing_module": (str,),
    },
    "fixture": {"name": (str,), "message": (str,), "exception": (str,), "missing_module": (str,)},
    "closing": {"missing": (list,)},
}  # fmt: skip

_sign: Callable[[bytes, int, bytes], bytes] = frames.sign  # the guest keeps to Python 3.8 without annotations


class FrameReader:
    """Takes bytes as they come and keeps the messages whose signatures hold.

    Reading stops for good at the first frame that no honest driver sends; `errors` then says what it was.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._buffer = bytearray()
        self._bytes = 0
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
        self._bytes += len(data)
        if self._bytes > _MAX_BYTES or len(self._messages) > _MAX_MESSAGES:
            self._fail(f"more than {len(self._messages)} messages or {self._bytes} bytes came")
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
        try:
            message = read_message(json.loads(payload))
        except (ValueError, RecursionError) as error:
            self._fail(f"a message cannot be read ({type(error).__name__})")
            return False
        self._messages.append(message)
        return True

    def _fail(self, why: str) -> None:
        self._errors.append(why)
        self._buffer.clear()


def read_message(value: object) -> dict[str, Any]:
    """A message whose fields are as the protocol has them; raises ``ValueError`` for anything else."""
    if not isinstance(value, dict) or value.get("kind") not in _FIELDS:
        raise ValueError("not a message")
    for name, types in _FIELDS[value["kind"]].items():
        field = value.get(name)
        if not isinstance(field, types) or isinstance(field, bool):
            raise ValueError(f"field {name} is {type(field).__name__}")
    if value["kind"] == "closing" and not all(isinstance(name, str) for name in value["missing"]):
        raise ValueError("a missing module is not named by a text")
    if value["kind"] == "test":
        TestOutcome(value["outcome"])
        if not 0 <= value["seconds"] < 1e9:
            raise ValueError("a time is out of range")
    return value
