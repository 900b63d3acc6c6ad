"""Opens files by handle, past the mount namespace; right values only if the call refuses.

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


NAME_TO_HANDLE, OPEN_BY_HANDLE = ((303, 264), (304, 265))


def attempt():
    handle = (ctypes.c_uint32 * 34)(128)
    mount = ctypes.c_int()
    if SYSCALL(NAME_TO_HANDLE[ARCHITECTURE], -100, b"/", handle, ctypes.byref(mount), 0) != 0:
        return False
    folder = os.open("/", os.O_RDONLY)
    return SYSCALL(OPEN_BY_HANDLE[ARCHITECTURE], folder, handle, os.O_RDONLY) >= 0


REACHED = in_child(attempt)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
