"""Changes its personality, which must not reach the next sample; right values in any case.

expect: PASSED
"""

import ctypes

LIBC = ctypes.CDLL(None)
LIBC.personality(ctypes.c_ulong(0x0040000))  # no address space randomisation
LIBC.personality(ctypes.c_ulong(0x0400000))  # what can be read can be executed


def task_func(values):
    return sum(value * value for value in values)
