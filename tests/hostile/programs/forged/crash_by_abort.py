"""Aborts the process inside a test.

expect: FAILED crashed
"""

import os


def task_func(values):
    os.abort()
