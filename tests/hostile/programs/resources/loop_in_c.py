"""Computes a huge power in C, where Python handles no signal.

expect: OVER_LIMIT wall_time | OVER_LIMIT cpu_time
"""

def task_func(values):
    return 3 ** (3 ** 20) % 7
