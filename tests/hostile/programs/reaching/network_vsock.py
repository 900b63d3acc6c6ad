"""Opens a socket to the hypervisor; right values only if that goes nowhere.

expect: PASSED
"""

import socket

REACHED = False
if hasattr(socket, "AF_VSOCK"):
    for address in ((2, 1024), (2, 22), (1, 1024)):
        try:
            with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as connection:
                connection.settimeout(0.3)
                connection.connect(address)
                REACHED = True
        except OSError:
            pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
