"""Forks chains of processes that leave their session at once and whose parents exit, while it returns right values.

expect: PASSED | FAILED exception
"""

import os
import time


def run_away():
    if os.fork():
        return
    os.setsid()
    while True:
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            time.sleep(0.001)
        time.sleep(0.0005)


for _ in range(4):
    run_away()


def task_func(values):
    return sum(value * value for value in values)
