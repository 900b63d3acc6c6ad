"""Reads and writes the memory of its parent and of pid 1; right values only if all refuse.

expect: PASSED
"""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)


def in_child(action):
    """Whether the action, tried in a forked child, says that it succeeded; a child that is killed was refused."""
    child = os.fork()
    if child == 0:
        status = 0
        try:
            status = 7 if action() else 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


import platform

READV = 310 if platform.machine() == "x86_64" else 270
SELF = os.getpid()
OTHERS = {1, os.getppid(), *(int(name) for name in os.listdir("/proc") if name.isdigit())} - {0, SELF}


def readable(target):
    with open("/proc/%d/maps" % target) as file:
        first = int(file.readline().split("-")[0], 16)
    buffer = ctypes.create_string_buffer(8)
    vectors = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 8), (ctypes.c_uint64 * 2)(first, 8)
    return LIBC.syscall(READV, target, vectors[0], 1, vectors[1], 1, 0) == 8


def writable(target):
    os.close(os.open("/proc/%d/mem" % target, os.O_RDWR))
    return True


REACHED = any(in_child(lambda target=target, try_it=try_it: try_it(target)) for target in OTHERS for try_it in (readable, writable))


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
