"""Opens performance counters; right values only if the call refuses.

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


PERF_EVENT_OPEN = (298, 241)[ARCHITECTURE]


def attempt(kind, configuration, process, processor):
    attributes = (ctypes.c_uint32 * 32)(kind, 128, configuration)
    attributes[10] = 0b1100001  # disabled, without kernel and hypervisor
    return lambda: SYSCALL(PERF_EVENT_OPEN, attributes, process, processor, -1, 0) >= 0


REACHED = any(in_child(action) for action in (attempt(1, 0, 0, -1), attempt(0, 0, 0, -1), attempt(1, 0, -1, 0)))


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
