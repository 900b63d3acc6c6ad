"""Calls os._exit(0) from the function under test.

expect: FAILED tests_not_run
"""

import os


def task_func(values):
    os._exit(0)
