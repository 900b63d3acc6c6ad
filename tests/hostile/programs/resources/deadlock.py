"""Acquires a lock twice.

expect: OVER_LIMIT wall_time
"""

import threading

LOCK = threading.Lock()


def task_func(values):
    with LOCK, LOCK:
        return sum(value * value for value in values)
