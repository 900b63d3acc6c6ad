"""What commands of a live workspace write, read as it comes, and after their end as far as it is there."""

import array
import fcntl
import os
import select
import termios

from benchwright.sandboxes.output import Output

_SKIP_BYTES = 1 << 20


class Stream:
    """The reading end of a pipe of one command, which is not waited for and not waited on."""

    def __init__(self, descriptor: int, most: int) -> None:
        self.descriptor = descriptor
        self.output = Output(most)
        self.kept = True
        """Whether what comes is for the result of the command; later it is read for nothing."""

    def read(self, event: int) -> bool:
        """Read what has come; False when nothing more can come."""
        read = self.output.read(self.descriptor) if self.kept else self._skip()
        return read or not event & (select.EPOLLHUP | select.EPOLLERR)

    def finish(self) -> None:
        """Read what is there now, however fast it becomes more, and keep nothing from now on."""
        waiting = array.array("i", [0])
        fcntl.ioctl(self.descriptor, termios.FIONREAD, waiting)
        end = self.output.total + waiting[0]
        while self.output.total < end and self.output.read(self.descriptor):
            pass
        self.kept = False

    def _skip(self) -> bool:
        """Take from the pipe without looking at it."""
        nothing = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            return bool(os.splice(self.descriptor, nothing, _SKIP_BYTES))
        except BlockingIOError:
            return False
        finally:
            os.close(nothing)
