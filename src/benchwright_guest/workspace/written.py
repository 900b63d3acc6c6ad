"""What was written in a workspace since its opening, read off the folder that takes what is written.

There, a removed file is a character device 0/0.  A folder that is in a lower layer, too, has one link in the
overlay; one that is new or took the place of another has more, and is named without what is below.  (A replaced
folder also has an attribute, which only the host's root may read.)
"""

import os
import stat

from . import walk


class Written:
    """Compares the folder with how it was at first."""

    def __init__(self, upper):
        self._upper = upper
        with _opened(upper) as top:
            self._first = {entry.path: _version(entry.status) for entry in walk.entries(top)}

    def paths(self):
        """Absolute paths, each ended by a zero byte; also of what is in shared memory."""
        with _opened(self._upper) as top:
            for entry in walk.entries(top):
                if self._is_new(entry):
                    entry.enter = False
                    yield b"/" + entry.path + b"\0"
                else:
                    yield b""
        for name in os.listdir(b"/dev/shm"):
            yield b"/dev/shm/" + name + b"\0"

    def _is_new(self, entry):
        if not stat.S_ISDIR(entry.status.st_mode):
            return self._first.get(entry.path) != _version(entry.status)
        if entry.path in self._first:
            return False
        try:
            return os.lstat(b"/" + entry.path).st_nlink != 1
        except OSError:
            return True  # just being removed


def _version(status):
    return status.st_ino, status.st_ctime_ns


class _opened:
    """The folder, for reading."""

    def __init__(self, folder):
        self._folder = folder

    def __enter__(self):
        self._top = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._folder)
        return self._top

    def __exit__(self, *error):
        os.close(self._top)
