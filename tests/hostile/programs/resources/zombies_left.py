"""Leaves forty ended children unreaped and returns right values.

expect: PASSED
"""

import os

for _ in range(40):
    if os.fork() == 0:
        os._exit(0)


def task_func(values):
    return sum(value * value for value in values)
