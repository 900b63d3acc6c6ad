"""Unshares a user namespace, where it would be root, and others; right values only if all refuse.

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


KINDS = {"time": 0x80, "mnt": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000}
REACHED = any(in_child(lambda flags=flags: LIBC.unshare(flags) == 0) for flags in [*KINDS.values(), sum(KINDS.values()), KINDS["user"] | KINDS["net"]])


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
