"""Sends datagrams and asks for names; right values only if the system finds no way out.

expect: PASSED
"""

import socket

REACHED = False
QUESTION = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03com\x00\x00\x01\x00\x01"
for family, address in (
    (socket.AF_INET, ("8.8.8.8", 53)),
    (socket.AF_INET, ("255.255.255.255", 9)),
    (socket.AF_INET, ("224.0.0.251", 5353)),
    (socket.AF_INET6, ("2001:4860:4860::8888", 53)),
):
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sender:
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            sender.sendto(QUESTION, address)
            REACHED = True
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
