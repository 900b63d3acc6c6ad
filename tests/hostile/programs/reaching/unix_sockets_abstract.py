"""Looks for abstract sockets, which belong to a network namespace; right values only if there is none.

expect: PASSED
"""

import socket

REACHED = False
with open("/proc/net/unix") as file:
    NAMES = [line.split()[7] for line in file.readlines()[1:] if len(line.split()) > 7 and line.split()[7].startswith("@")]
for name in NAMES + ["@/tmp/.X11-unix/X0", "@/containerd-shim", "@/tmp/dbus-test"]:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            with socket.socket(socket.AF_UNIX, kind) as connection:
                connection.settimeout(0.2)
                connection.connect("\0" + name[1:])
                REACHED = True
        except OSError:
            pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
