"""Connects to the listeners of leave_sockets; right values only if none answers.

expect: PASSED
"""

import socket

REACHED = False
for family, address in ((socket.AF_UNIX, "\0hostile_trace"), (socket.AF_INET, ("127.0.0.1", 48731))):
    try:
        with socket.socket(family) as connection:
            connection.settimeout(0.3)
            connection.connect(address)
            REACHED = True
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
