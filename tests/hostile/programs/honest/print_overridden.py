"""Overrides print and sum with functions of its own in its module.

expect: PASSED
"""

import builtins


def print(*arguments, **options):
    options.setdefault("flush", True)
    builtins.print(*arguments, **options)


def sum(values, start=0):
    for value in values:
        start += value
    return start


def task_func(values):
    print("values:", values)
    return sum(value * value for value in values)
