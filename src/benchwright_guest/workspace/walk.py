"""Going through a folder and everything below it, whatever a command has left there."""

import errno
import os
import stat

PATH_MOST = 4095
"""Bytes of a path that the kernel takes, and thus git and every other program: what is deeper is left out."""

_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Entry:
    """Something in a folder."""

    __slots__ = ("enter", "folder", "name", "path", "status")

    def __init__(self, folder, name, path, status):
        self.folder = folder
        """Descriptor of the folder, as long as the next entry is not asked for."""
        self.name = name
        self.path = path
        """Bytes, relative to the top."""
        self.status = status
        self.enter = stat.S_ISDIR(status.st_mode)
        """Whether what is below will be gone through, too; may be set to False."""


def entries(top):
    """Every entry below a folder that is open, a folder before what is in it; other file systems are left out.

    Needs one descriptor, and memory for the names of folders that are still to be entered only.
    """
    device = os.fstat(top).st_dev
    left = [None]  # folders as (parent or None for the top, name), so that long paths are not held many times
    while left:
        place = left.pop()
        prefix = _path(place)
        try:
            folder = os.open(prefix or b".", _FOLDER, dir_fd=top)
        except OSError as error:
            if error.errno not in _GONE:
                raise
            continue
        try:
            for entry in _listed(folder, prefix, device):
                yield entry
                if entry.enter:
                    left.append((place, entry.name))
        finally:
            os.close(folder)


def _listed(folder, prefix, device):
    with os.scandir(folder) as found:
        for one in found:
            name = os.fsencode(one.name)
            path = os.path.join(prefix, name)
            try:
                status = one.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            foreign = stat.S_ISDIR(status.st_mode) and status.st_dev != device
            if len(path) <= PATH_MOST and not foreign:
                yield Entry(folder, name, path, status)


def _path(place):
    names = []
    while place is not None:
        place, name = place
        names.append(name)
    return b"/".join(reversed(names))
