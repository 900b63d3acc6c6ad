"""Nests folders two thousand deep, stays in the innermost and returns right values.

expect: PASSED
"""

import os

try:
    for _ in range(2000):
        os.mkdir("d")
        os.chdir("d")
except OSError:
    pass


def task_func(values):
    return sum(value * value for value in values)
