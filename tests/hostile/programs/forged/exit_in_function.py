"""Calls sys.exit(0) from the function under test.

expect: FAILED exception | FAILED tests_not_run
"""

import sys


def task_func(values):
    sys.exit(0)
