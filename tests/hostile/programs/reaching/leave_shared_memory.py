"""Leaves System V and POSIX shared memory, semaphores and queues under fixed names; right values in any case.

expect: PASSED
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmget(0x5EC12E7, ctypes.c_size_t(4096), 0o1666)
LIBC.semget(0x5EC12E7, 1, 0o1666)
LIBC.msgget(0x5EC12E7, 0o1666)
try:
    os.close(os.open("/dev/shm/hostile_trace", os.O_CREAT | os.O_RDWR))
except OSError:
    pass


def task_func(values):
    return sum(value * value for value in values)
