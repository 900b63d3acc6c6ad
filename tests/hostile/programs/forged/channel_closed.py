"""Closes every descriptor above standard error.

expect: FAILED tampered | FAILED tests_not_run
"""

import os


def task_func(values):
    os.closerange(3, 4096)
    return -1
