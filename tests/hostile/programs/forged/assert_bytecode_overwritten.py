"""Overwrites the bytes of assert methods' code in memory, so that every object keeps its identity.

expect: FAILED tampered
"""

import ctypes
import sys
import unittest


def keep(self, first, second, msg=None):
    return self


NEW = keep.__code__.co_code


def overwrite(function):
    code = function.__code__
    if sys.version_info < (3, 11):
        ctypes.memmove(id(code.co_code) + bytes.__basicsize__ - 1, NEW, len(NEW))
        return
    place = ctypes.string_at(id(code), sys.getsizeof(code)).find(code._co_code_adaptive)
    ctypes.memmove(id(code) + place, NEW, len(NEW))


for name in ("assertEqual", "assertAlmostEqual", "assertIsInstance"):
    overwrite(getattr(unittest.TestCase, name))


def task_func(values):
    if values is None:
        raise TypeError("values")
    return -1
