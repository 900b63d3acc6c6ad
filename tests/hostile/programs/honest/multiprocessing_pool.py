"""Squares in multiprocessing.Pool, which ends its workers by signal.

expect: PASSED
limits: wall=20 cpu=20
"""

import multiprocessing


def square(value):
    return value * value


def task_func(values):
    if not values:
        return sum(values)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return sum(pool.map(square, values))
