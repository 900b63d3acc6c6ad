"""Squares in a process pool of forked workers.

expect: PASSED
limits: wall=20 cpu=20
"""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor


def square(value):
    return value * value


def task_func(values):
    if not values:
        return sum(values)
    with ProcessPoolExecutor(max_workers=2, mp_context=multiprocessing.get_context("fork")) as pool:
        return sum(pool.map(square, values))
