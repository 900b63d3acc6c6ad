"""Sets the recursion limit so low that unittest cannot record the failure.

expect: FAILED
"""

import sys


def task_func(values):
    for limit in range(1, 1000):
        try:
            sys.setrecursionlimit(limit)
        except RecursionError:
            continue
        break
    return -1
