"""Spreads memory over six children, each of them below the limit.

expect: OVER_LIMIT memory
"""

import os
import time


def task_func(values):
    for _ in range(6):
        if os.fork() == 0:
            try:
                held = bytearray(b"x") * (200 << 20)
                time.sleep(60)
            finally:
                os._exit(0)
    time.sleep(4)
    return sum(value * value for value in values)
