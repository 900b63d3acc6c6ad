"""Unmounts what hides the host's folders; right values only if all refuse.

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


with open("/proc/self/mountinfo") as file:
    PLACES = [line.split()[4].encode() for line in file]
REACHED = any(
    in_child(lambda place=place, flags=flags: LIBC.umount2(place, flags) == 0)
    for place in [*reversed(PLACES[-60:]), b"/", b"/tmp", b"/proc", b"/root", b"/home"]
    for flags in (2,)  # MNT_DETACH
)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
