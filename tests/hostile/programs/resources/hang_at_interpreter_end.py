"""Registers an atexit handler that never returns; the values are right.

expect: PASSED
"""

import atexit
import time

atexit.register(time.sleep, 100_000)


def task_func(values):
    return sum(value * value for value in values)
