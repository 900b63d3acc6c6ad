"""Files of a workspace, written and read by process 1: whatever links it meets lead to places inside only.

Nothing that a command may have left behind is an error, for an error here counts as the machine's: links to other
file systems, loops, folders in the place of files, trees deeper than any path.
"""

import errno
import os
import stat

_CHUNK = 1 << 20
_NEW = ".benchwright-new"
_NOTHING_THERE = (
    errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG,
    errno.EROFS, errno.EPERM, errno.EACCES, errno.EBUSY,  # a link leads to what is not the workspace's
)  # fmt: skip


def answer(request, descriptors):
    """Do what a request of the host asks for; the answer to it."""
    try:
        if request["op"] == "put":
            put(request["path"], descriptors[0], request["mode"])
        elif request["op"] == "remove":
            remove(request["path"])
        elif request["op"] == "stamp":
            return {"event": "done", "stamp": stamp(request["path"])}
        else:
            return {"event": "done", "size": get(request["path"], descriptors[0], request["most"])}
        return {"event": "done"}
    except OSError as error:
        return {"event": "failed", "message": "%s: %s" % (request["path"], error.strerror)}


def put(path, source, mode):
    """Write what a descriptor gives to a file; what is at the path, or in the place of a parent folder, gives way."""
    folder, name = os.path.split(path)
    _make_folders(folder)
    new, final = os.path.join(folder, _NEW), os.path.join(folder, name)
    _discard(new)
    target = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        _copy(source, target)
        os.fchmod(target, mode)
        if stat.S_ISDIR(_mode(final)):
            _discard(final)
        os.rename(new, final)
    except BaseException:
        os.unlink(new)
        raise
    finally:
        os.close(target)


def remove(path):
    """Remove a file or link if it is there; a folder stays."""
    try:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
    except OSError as error:
        if error.errno not in _NOTHING_THERE:
            raise


def get(path, target, most):
    """Copy a regular file to a descriptor; its size, or None when there is none.

    Nothing is copied when it is larger than ``most`` bytes.  What the kernel makes up is no file.
    """
    try:
        source = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None  # also a socket, a device of nobody, a loop of links
    try:
        status = os.fstat(source)
        if not stat.S_ISREG(status.st_mode) or not is_of_workspace(source):
            return None
        if status.st_size <= most:
            _copy(source, target)
        return status.st_size
    finally:
        os.close(source)


def stamp(path):
    """What is another after the file was written to, replaced or had its times set; None when there is none.

    The time of the last change of an inode cannot be set from inside.
    """
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return "%d:%d:%d:%d" % (status.st_mode, status.st_ino, status.st_ctime_ns, status.st_size)


def is_of_workspace(descriptor):
    """Whether what is open is a file or folder of the workspace: not made up by the kernel, and there by its name.

    A link into /proc may lead to what process 1 has open, of which some is the host's.
    """
    status = os.fstat(descriptor)
    if status.st_dev in _made_up():
        return False
    try:
        return os.path.samestat(status, os.lstat(os.readlink("/proc/self/fd/%d" % descriptor)))
    except OSError:
        return False


def _made_up():
    """Numbers of the kernel's own file systems: reading there may fail or never end."""
    return [os.stat(path).st_dev for path in ("/proc", "/sys", "/sys/devices/system") if os.path.isdir(path)]


def _copy(source, target):
    while True:
        chunk = os.read(source, _CHUNK)
        if not chunk:
            return
        while chunk:
            chunk = chunk[os.write(target, chunk) :]


def _make_folders(folder):
    path = "/"
    for part in folder.split("/"):
        path = os.path.join(path, part)
        if not _is_folder(path):
            if os.path.lexists(path):
                os.unlink(path)
            os.mkdir(path, 0o755)


def _is_folder(path):
    """Whether there is a folder, or a link to one of the workspace's own file system."""
    if os.path.islink(path):
        return os.path.isdir(path) and os.stat(path).st_dev == os.stat("/").st_dev
    return os.path.isdir(path)


def _mode(path):
    try:
        return os.lstat(path).st_mode
    except FileNotFoundError:
        return 0


def _discard(path):
    mode = _mode(path)
    if stat.S_ISDIR(mode):
        try:
            _empty(path)
        finally:
            os.chdir("/")
        os.rmdir(path)
    elif mode:
        os.unlink(path)


def _empty(path):
    """Remove what is below a folder, going from folder to folder: a path can get too long, a stack too deep."""
    os.chdir(path)
    left = [_remove_files()]
    while left:
        if left[-1]:
            os.chdir(left[-1][-1])
            left.append(_remove_files())
        else:
            left.pop()
            if left:
                os.chdir("..")
                os.rmdir(left[-1].pop())


def _remove_files():
    """Remove the files of the current folder; the names of its folders."""
    folders = []
    with os.scandir(".") as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            else:
                os.unlink(entry.name)
    return folders
