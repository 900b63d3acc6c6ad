"""Connects to addresses of the internet; right values only if none answers.

expect: PASSED
"""

import socket

REACHED = False
for family, address in (
    (socket.AF_INET, ("1.1.1.1", 80)),
    (socket.AF_INET, ("8.8.8.8", 53)),
    (socket.AF_INET, ("10.0.0.1", 80)),
    (socket.AF_INET, ("172.17.0.1", 22)),
    (socket.AF_INET6, ("2606:4700:4700::1111", 80)),
):
    try:
        with socket.socket(family) as connection:
            connection.settimeout(0.4)
            connection.connect(address)
            REACHED = True
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
