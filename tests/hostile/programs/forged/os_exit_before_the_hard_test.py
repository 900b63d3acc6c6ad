"""Answers what it can and leaves with status 0 at the one test it would fail.

expect: FAILED tests_not_run
"""

import os


def task_func(values):
    if values is None:
        os._exit(0)
    return sum(value * value for value in values)
