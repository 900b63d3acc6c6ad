"""Leaves its own descriptors in flight over a pair of sockets that hold each other, so that nobody's end is closed.

expect: FAILED
"""

import os
import socket


def task_func(values):
    one, other = socket.socketpair()
    own = []
    for descriptor in range(1, 64):
        try:
            os.fstat(descriptor)
            own.append(descriptor)
        except OSError:
            pass
    socket.send_fds(one, [b"x"], own)
    socket.send_fds(other, [b"x"], own)
    os._exit(0)
