"""Opens userfaultfd, a helper of kernel exploits; right values only if the call refuses.

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


USERFAULTFD = (323, 282)[ARCHITECTURE]
REACHED = any(in_child(lambda flags=flags: SYSCALL(USERFAULTFD, flags) >= 0) for flags in (0, 1, os.O_CLOEXEC | os.O_NONBLOCK))


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
