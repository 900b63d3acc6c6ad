"""Remounts read-only places as writable and makes mounts shared; right values only if all refuse.

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


REMOUNT, BIND, SHARED, RECURSIVE = 32, 4096, 1 << 20, 16384
REACHED = any(
    in_child(lambda place=place, flags=flags: LIBC.mount(b"none", place, None, ctypes.c_ulong(flags), None) == 0)
    for place in (b"/", b"/usr", b"/etc", b"/proc", b"/proc/sys", b"/sys", b"/dev", b"/tmp")
    for flags in (REMOUNT, REMOUNT | BIND, SHARED | RECURSIVE)
)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
