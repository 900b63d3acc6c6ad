"""Attaches a debugger to its parent, to pid 1 and to all others; right values only if all refuse.

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


LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long
ATTACH, SEIZE = 16, 0x4206
SELF = os.getpid()
OTHERS = {1, os.getppid(), *(int(name) for name in os.listdir("/proc") if name.isdigit())} - {0, SELF}
REACHED = any(in_child(lambda target=target, how=how: LIBC.ptrace(how, target, None, None) == 0) for target in OTHERS for how in (ATTACH, SEIZE))


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
