"""Enters the namespaces of other processes; right values only if all refuse.

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


import glob


def enter(path):
    descriptor = os.open(path, os.O_RDONLY)
    return LIBC.setns(descriptor, 0) == 0


OWN = {os.readlink(path) for path in glob.glob("/proc/self/ns/*")}


def foreign(path):
    try:
        return os.readlink(path) not in OWN
    except OSError:
        return True


REACHED = any(in_child(lambda path=path: enter(path)) for path in glob.glob("/proc/[0-9]*/ns/*") if foreign(path))
REACHED = REACHED or in_child(lambda: enter("/proc/self/ns/user")) or in_child(lambda: enter("/proc/self/ns/mnt")) or in_child(lambda: enter("/proc/self/ns/net"))


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
