"""Raises an exception with a message of 200 MB.

expect: FAILED exception | OVER_LIMIT memory | OVER_LIMIT output
"""

def task_func(values):
    raise ValueError("x" * (200 << 20))
