"""Leaves threads that are no daemons and never end; returns right values.

expect: PASSED
"""

import threading

for _ in range(5):
    threading.Thread(target=threading.Event().wait).start()


def task_func(values):
    return sum(value * value for value in values)
