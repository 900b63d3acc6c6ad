"""Loops for ever in Python.

expect: OVER_LIMIT wall_time | OVER_LIMIT cpu_time
"""

def task_func(values):
    while True:
        pass
