"""Calls the C library through ctypes, as answers about the system do.

expect: PASSED
"""

import ctypes
import ctypes.util
import os

LIBC = ctypes.CDLL(None)


def task_func(values):
    assert LIBC.getpid() == os.getpid()
    LIBC.abs.restype = ctypes.c_int
    assert LIBC.abs(-3) == 3
    return sum(value * value for value in values)
