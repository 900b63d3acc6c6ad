"""Forks in the first calls and lets all copies go on, so that results arrive many times.

expect: FAILED tampered | FAILED assertion
"""

import os

CALLS = []


def task_func(values):
    CALLS.append(values)
    if len(CALLS) <= 4:  # sixteen copies
        os.fork()
    return -1
