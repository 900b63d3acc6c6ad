"""What takes process 1 long, done little by little."""

import os
import time

_STEP_SECONDS = 0.005
_PIECE_BYTES = 1 << 18  # small chunks are written together


class Job:
    """Writes chunks, as they come, to a descriptor, and closes that in the end."""

    def __init__(self, number, chunks, target):
        self.number = number
        self.target = target
        self.blocked = False
        """Whether the descriptor took nothing more when it was last tried."""
        self._chunks = chunks
        self._piece = bytearray()
        self._exhausted = False
        os.set_blocking(target, False)

    def work(self):
        """Go on for a short time; the answer for the host when it is done."""
        end = time.monotonic() + _STEP_SECONDS
        self.blocked = False
        try:
            while not self._exhausted or self._piece:
                if not self._exhausted and len(self._piece) < _PIECE_BYTES:
                    self._gather()
                else:
                    self._write()
                if self.blocked or time.monotonic() >= end:
                    return None
            answer = {"event": "done"}
        except OSError as error:
            answer = {"event": "failed", "message": str(error)}
        self._chunks.close()
        os.close(self.target)
        return answer

    def _gather(self):
        chunk = next(self._chunks, None)
        if chunk is None:
            self._exhausted = True
        else:
            self._piece += chunk

    def _write(self):
        try:
            del self._piece[: os.write(self.target, self._piece)]
        except BlockingIOError:
            self.blocked = True
