"""Has the clock return a thing whose rounded difference is a nested list, to put that where the host expects a number.

expect: FAILED
"""

import time


class Instant:
    def __sub__(self, other):
        return self

    __rsub__ = __sub__

    def __round__(self, digits=0):
        return {"seconds": [float("nan")]}


def task_func(values):
    time.perf_counter = Instant
    return sum(value * value for value in values) + 1
