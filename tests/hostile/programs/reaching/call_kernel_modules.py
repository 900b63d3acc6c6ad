"""Loads kernel modules and another kernel, from nothing; right values only if permission is what is missing.

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


import errno

INIT_MODULE, FINIT_MODULE, DELETE_MODULE, KEXEC_LOAD = ((175, 105), (313, 273), (176, 106), (246, 104))


def allowed(number, *arguments):
    """Whether the kernel got as far as looking at the arguments, which are all nonsense."""
    return lambda: SYSCALL(number[ARCHITECTURE], *arguments) >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS, errno.EACCES)


REACHED = any(
    in_child(action)
    for action in (
        allowed(INIT_MODULE, 0, 0, b""),
        allowed(FINIT_MODULE, -1, b"", 0),
        allowed(DELETE_MODULE, b"no_such_module", 0),
        allowed(KEXEC_LOAD, 0, 1, 0, ctypes.c_ulong(1 << 40)),
    )
)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
