"""Raises KeyboardInterrupt, the one exception that unittest lets through.

expect: FAILED exception | FAILED tests_not_run
"""

def task_func(values):
    raise KeyboardInterrupt
