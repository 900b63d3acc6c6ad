"""Has the clock return a list nested so deeply that the host's JSON reader gives up, in the report of a failed test.

expect: FAILED
"""

import sys
import time

sys.setrecursionlimit(1_000_000)
DEEP = []
for _ in range(5000):
    DEEP = [DEEP]


class Instant:
    def __sub__(self, other):
        return self

    __rsub__ = __sub__

    def __round__(self, digits=0):
        return DEEP


def task_func(values):
    time.perf_counter = Instant
    return -1
