"""Connects to every listener of the loopback interface; right values only if there is none but its own.

expect: PASSED
"""

import socket

REACHED = False
PORTS = {22, 25, 53, 80, 111, 443, 631, 2375, 2376, 3306, 5000, 5432, 6379, 6443, 8000, 8080, 8888, 9090, 11434}
for table in ("/proc/net/tcp", "/proc/net/tcp6"):
    try:
        with open(table) as file:
            for line in file.readlines()[1:]:
                fields = line.split()
                if fields[3] == "0A":  # listening
                    PORTS.add(int(fields[1].rsplit(":", 1)[1], 16))
    except OSError:
        pass
for port in PORTS:
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            with socket.socket(family) as connection:
                connection.settimeout(0.2)
                connection.connect((host, port))
                # A connection of a socket to itself does not count.
                REACHED = REACHED or connection.getsockname() != connection.getpeername()
        except OSError:
            pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
