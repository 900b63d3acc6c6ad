"""Sets the clock, the host name and the system's accounting; right values only if all refuse.

expect: PASSED
"""

import ctypes
import os
import socket
import time

LIBC = ctypes.CDLL(None, use_errno=True)
REACHED = False


def by_libc(name, *arguments):
    if getattr(LIBC, name)(*arguments) != 0:
        raise OSError(name)


for attempt in (
    lambda: time.clock_settime(time.CLOCK_REALTIME, time.time()),
    lambda: socket.sethostname("hostile"),
    lambda: by_libc("setdomainname", b"hostile", 7),
    lambda: by_libc("acct", None),
    lambda: by_libc("swapon", b"/nowhere", 0),
    lambda: by_libc("swapoff", b"/nowhere"),
    lambda: by_libc("vhangup"),
):
    try:
        attempt()
        REACHED = True
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
