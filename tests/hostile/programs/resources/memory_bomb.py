"""Allocates and touches memory without end.

expect: OVER_LIMIT memory | FAILED exception
"""

def task_func(values):
    held = []
    while True:
        held.append(bytearray(b"x") * (8 << 20))
