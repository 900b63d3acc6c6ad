"""Calls sys.exit(0) while it is loaded.

expect: FAILED tests_not_run
"""

import sys

sys.exit(0)


def task_func(values):
    return -1
