"""Sleeps for ever while it is loaded.

expect: OVER_LIMIT wall_time
"""

import time

time.sleep(100_000)


def task_func(values):
    return sum(value * value for value in values)
