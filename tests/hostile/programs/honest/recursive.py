"""Computes recursively, lifts the recursion limit and goes deep once.

expect: PASSED
"""

import sys

sys.setrecursionlimit(5000)


def depth(number):
    return 0 if number == 0 else 1 + depth(number - 1)


def task_func(values):
    assert depth(2000) == 2000
    if not len(values):
        return 0
    first, *rest = values
    return first * first + task_func(rest)
