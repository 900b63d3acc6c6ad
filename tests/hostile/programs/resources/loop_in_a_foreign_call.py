"""Sleeps for ever in libc, called through ctypes with the interpreter lock held.

expect: OVER_LIMIT wall_time
"""

import ctypes


def task_func(values):
    while True:
        ctypes.PyDLL(None).sleep(1000)
