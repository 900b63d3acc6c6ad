"""Allocates without end, catches MemoryError and holds on to everything.

expect: OVER_LIMIT memory | OVER_LIMIT wall_time | OVER_LIMIT cpu_time
"""

HELD = []


def task_func(values):
    size = 16 << 20
    while True:
        try:
            HELD.append(bytearray(b"x") * size)
        except MemoryError:
            size = max(size // 2, 64)
