"""Fills System V shared memory of 1.5 GB, detaching each piece, and returns right values if it is allowed to.

expect: OVER_LIMIT memory | FAILED exception
"""

import ctypes

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.shmat.restype = ctypes.c_void_p
LIBC.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
LIBC.shmdt.argtypes = [ctypes.c_void_p]
PIECE = 32 << 20


def task_func(values):
    for _ in range(48):
        identifier = LIBC.shmget(0, ctypes.c_size_t(PIECE), 0o1600)
        if identifier < 0:
            raise OSError(ctypes.get_errno(), "shmget")
        address = LIBC.shmat(identifier, None, 0)
        if address in (None, ctypes.c_void_p(-1).value):
            raise OSError(ctypes.get_errno(), "shmat")
        ctypes.memset(address, 1, PIECE)
        LIBC.shmdt(address)
    return sum(value * value for value in values)
