"""Reads kernel symbols and the kernel log; right values only if addresses are hidden and the log is closed.

expect: PASSED
"""

import ctypes

REACHED = False
try:
    with open("/proc/kallsyms") as file:
        REACHED = any(int(line.split()[0], 16) for line in file.readlines()[:200])
except OSError:
    pass
BUFFER = ctypes.create_string_buffer(4096)
if ctypes.CDLL(None).klogctl(3, BUFFER, 4096) > 0:
    REACHED = True


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
