"""Prints 1 GB to standard output and returns right values.

expect: OVER_LIMIT output
"""

import sys

BLOCK = "x" * 1023 + "\n"


def task_func(values):
    for _ in range(1 << 20):
        sys.stdout.write(BLOCK)
    return sum(value * value for value in values)
