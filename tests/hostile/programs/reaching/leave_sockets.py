"""Leaves a process that listens on an abstract socket and on a port of the loopback interface; right values in any case.

expect: PASSED
"""

import os
import socket
import time

READY, TELL = os.pipe()
if os.fork() == 0:
    os.setsid()
    abstract = socket.socket(socket.AF_UNIX)
    port = socket.socket()
    for listener, address in ((abstract, "\0hostile_trace"), (port, ("127.0.0.1", 48731))):
        try:
            listener.bind(address)
            listener.listen()
        except OSError:
            pass
    os.write(TELL, b"x")
    time.sleep(100_000)
    os._exit(0)
os.read(READY, 1)
os.close(READY)
os.close(TELL)


def task_func(values):
    return sum(value * value for value in values)
