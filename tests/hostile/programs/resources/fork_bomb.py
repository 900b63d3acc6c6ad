"""Forks without end in every process and ignores every refusal.

expect: OVER_LIMIT wall_time | OVER_LIMIT memory | OVER_LIMIT cpu_time
"""

import os


def task_func(values):
    while True:
        try:
            os.fork()
        except OSError:
            pass
