"""Talks to itself through a unix socket, a named pipe and a socket pair.

expect: PASSED
"""

import os
import socket


def task_func(values):
    first, second = socket.socketpair()
    with first, second:
        first.sendall(b"x")
        assert second.recv(1) == b"x"
    if not os.path.exists("fifo"):
        os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket%d" % len(os.listdir(".")))
    return sum(value * value for value in values)
