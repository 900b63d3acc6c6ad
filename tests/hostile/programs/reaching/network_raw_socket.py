"""Opens raw and packet sockets; right values only if both are refused.

expect: PASSED
"""

import socket

REACHED = False
for family, kind, protocol in (
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
    (socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW),
    (socket.AF_PACKET, socket.SOCK_RAW, 0x0300),
    (socket.AF_PACKET, socket.SOCK_DGRAM, 0x0300),
):
    try:
        socket.socket(family, kind, protocol).close()
        REACHED = True
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
