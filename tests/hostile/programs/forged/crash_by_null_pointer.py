"""Reads the address 0, so that the process dies of a segmentation fault.

expect: FAILED crashed | FAILED tampered
"""

import ctypes


def task_func(values):
    return ctypes.string_at(0)
