"""Calls chroot and pivot_root; right values only if both refuse.

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


import platform

PIVOT_ROOT = 155 if platform.machine() == "x86_64" else 41
os.mkdir("new")
os.mkdir("new/old")


def chroot():
    os.chroot("new")
    return True


REACHED = in_child(chroot) or in_child(lambda: LIBC.syscall(PIVOT_ROOT, b"new", b"new/old") == 0) or in_child(lambda: LIBC.syscall(PIVOT_ROOT, b".", b".") == 0)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
