"""Takes descriptors of its parent and of pid 1 by pidfd_getfd and /proc; right values only if all refuse.

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


PIDFD_OPEN, PIDFD_GETFD = 434, 438  # the same on all architectures
SELF = os.getpid()
OTHERS = {1, os.getppid(), *(int(name) for name in os.listdir("/proc") if name.isdigit())} - {0, SELF}


def take(target):
    handle = LIBC.syscall(PIDFD_OPEN, target, 0)
    return handle >= 0 and any(LIBC.syscall(PIDFD_GETFD, handle, number, 0) >= 0 for number in range(32))


def list_them(target):
    return bool(os.listdir("/proc/%d/fd" % target))


REACHED = any(in_child(lambda target=target, try_it=try_it: try_it(target)) for target in OTHERS for try_it in (take, list_them))


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
