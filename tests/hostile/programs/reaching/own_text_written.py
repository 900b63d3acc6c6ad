"""Writes to a read-only page of its own memory through /proc/self/mem, which harms nobody; right values in any case.

expect: PASSED | FAILED tampered
"""

import ctypes
import mmap

AREA = mmap.mmap(-1, 4096)
ADDRESS = ctypes.addressof(ctypes.c_char.from_buffer(AREA))
ctypes.CDLL(None).mprotect(ctypes.c_void_p(ADDRESS), ctypes.c_size_t(4096), 1)
try:
    with open("/proc/self/mem", "r+b", buffering=0) as memory:
        memory.seek(ADDRESS)
        memory.write(b"written")
except OSError:
    pass


def task_func(values):
    return sum(value * value for value in values)
