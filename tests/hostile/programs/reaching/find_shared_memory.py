"""Looks for what leave_shared_memory left; right values only if nothing is there.

expect: PASSED
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
REACHED = (
    LIBC.shmget(0x5EC12E7, ctypes.c_size_t(0), 0) >= 0
    or LIBC.semget(0x5EC12E7, 0, 0) >= 0
    or LIBC.msgget(0x5EC12E7, 0) >= 0
    or os.path.exists("/dev/shm/hostile_trace")
)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
