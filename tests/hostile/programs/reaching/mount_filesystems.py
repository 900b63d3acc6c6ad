"""Mounts a tmpfs, proc, a bind and an overlay; right values only if all refuse.

expect: PASSED
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)


def in_child(action):
    """Whether the action, tried in a forked child, says that it succeeded; a child that is killed was refused."""
    child = os.fork()
    if child == 0:
        status = 0
        try:
            status = 7 if action() else 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def mount(source, target, kind, flags=0, data=None):
    return lambda: LIBC.mount(source, target, kind, ctypes.c_ulong(flags), data) == 0


os.mkdir("mnt")
REACHED = any(
    in_child(action)
    for action in (
        mount(b"tmpfs", b"mnt", b"tmpfs"),
        mount(b"proc", b"mnt", b"proc"),
        mount(b"sysfs", b"mnt", b"sysfs"),
        mount(b"/etc", b"mnt", None, 4096),
        mount(b"overlay", b"mnt", b"overlay", 0, b"lowerdir=/etc:/usr"),
        mount(b"cgroup2", b"mnt", b"cgroup2"),
        mount(b"/dev/sda1", b"mnt", b"ext4"),
    )
)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
