"""Uses open_tree, fsopen and mount_setattr, which older filters do not know; right values only if all refuse.

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


SYSCALL = LIBC.syscall
SYSCALL.restype = ctypes.c_long
# The same numbers on all architectures.
OPEN_TREE, MOVE_MOUNT, FSOPEN, FSPICK, MOUNT_SETATTR = 428, 429, 430, 433, 442
ATTRIBUTES = (ctypes.c_uint64 * 4)(0, 1, 0, 0)  # clear read-only
REACHED = any(
    in_child(action)
    for action in (
        lambda: SYSCALL(OPEN_TREE, -100, b"/", 1) >= 0,  # OPEN_TREE_CLONE
        lambda: SYSCALL(FSOPEN, b"tmpfs", 0) >= 0,
        lambda: SYSCALL(FSPICK, -100, b"/", 0) >= 0,
        lambda: SYSCALL(MOUNT_SETATTR, -100, b"/", 0x8000, ATTRIBUTES, 32) == 0,
    )
)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
