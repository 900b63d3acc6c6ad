"""Writes 1.5 GB into anonymous files that no process maps, and returns right values if it is allowed to.

expect: OVER_LIMIT memory | FAILED exception
"""

import os

BLOCK = b"x" * (1 << 20)
HELD = []


def task_func(values):
    for number in range(48):
        descriptor = os.memfd_create("held")
        HELD.append(descriptor)
        for _ in range(32):
            os.write(descriptor, BLOCK)
    return sum(value * value for value in values)
