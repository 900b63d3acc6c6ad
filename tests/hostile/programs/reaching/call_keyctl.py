"""Reads and adds kernel keys, which no namespace separates; right values only if all refuse.

expect: PASSED
"""

import ctypes
import os
import platform

ARCHITECTURE = 0 if platform.machine() == "x86_64" else 1  # else aarch64
SYSCALL = ctypes.CDLL(None, use_errno=True).syscall
SYSCALL.restype = ctypes.c_long


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


ADD_KEY, REQUEST_KEY, KEYCTL = ((248, 217), (249, 218), (250, 219))
REACHED = any(
    in_child(action)
    for action in (
        lambda: SYSCALL(KEYCTL[ARCHITECTURE], 0, -4, 1, 0, 0) >= 0,
        lambda: SYSCALL(KEYCTL[ARCHITECTURE], 1, b"hostile", 0, 0, 0) >= 0,
        lambda: SYSCALL(ADD_KEY[ARCHITECTURE], b"user", b"hostile", b"trace", 5, -4) >= 0,
        lambda: SYSCALL(REQUEST_KEY[ARCHITECTURE], b"user", b"hostile", 0, 0) >= 0,
    )
)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
