"""Profiles its own work with cProfile and times it with timeit; profiling runs code inside the tests, so it counts as interference.

expect: FAILED tampered
"""

import cProfile
import io
import pstats
import timeit


def work(values):
    return sum(value * value for value in values)


def task_func(values):
    profile = cProfile.Profile()
    total = profile.runcall(work, values)
    pstats.Stats(profile, stream=io.StringIO()).sort_stats("cumulative").print_stats(3)
    timeit.timeit(lambda: work([1, 2]), number=10)
    return total
