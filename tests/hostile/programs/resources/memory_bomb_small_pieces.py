"""Fills memory with many small objects, with the collector off.

expect: OVER_LIMIT memory | FAILED exception
limits: wall=20 cpu=20
"""

import gc


def task_func(values):
    gc.disable()
    chain = None
    while True:
        for _ in range(10000):
            chain = [chain, None, None, None]
