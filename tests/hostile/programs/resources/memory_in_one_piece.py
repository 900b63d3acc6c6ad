"""Asks for 64 GB at once.

expect: OVER_LIMIT memory | FAILED exception
"""

def task_func(values):
    return len(b"x" * (64 << 30))
