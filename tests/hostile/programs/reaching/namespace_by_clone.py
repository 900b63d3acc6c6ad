"""Clones a child into a new user namespace by clone and clone3; right values only if both refuse.

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

CLONE = 56 if platform.machine() == "x86_64" else 220
CLONE3 = 435
NEW_USER, SIGCHLD = 0x10000000, 17
SYSCALL = LIBC.syscall
SYSCALL.restype = ctypes.c_long


def clone():
    child = SYSCALL(CLONE, ctypes.c_ulong(NEW_USER | SIGCHLD), 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    return child > 0


def clone3():
    arguments = (ctypes.c_uint64 * 11)(NEW_USER, 0, 0, 0, SIGCHLD, 0, 0, 0, 0, 0, 0)
    child = SYSCALL(CLONE3, arguments, ctypes.c_size_t(64))
    if child == 0:
        os._exit(0)
    return child > 0


REACHED = in_child(clone) or in_child(clone3)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
