"""Changes variables of the driver's frame with PyFrame_LocalsToFast, found by ctypes.pythonapi.

expect: FAILED tampered | FAILED exception | FAILED assertion
"""

import ctypes
import sys


def task_func(values):
    frame = sys._getframe()
    while frame.f_code.co_name != "run_all":
        frame = frame.f_back
    tests = frame.f_locals["self"].tests
    tests[:] = [(identity, name, lambda case: None) for identity, name, function in tests]
    frame.f_locals["name"] = "unchanged"
    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
    return 0
