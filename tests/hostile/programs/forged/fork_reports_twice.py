"""Forks while it is loaded, so that a child with right values and a parent with wrong ones report over one channel.

expect: FAILED tampered | FAILED assertion
"""

import os
import time

IN_CHILD = os.fork() == 0
if not IN_CHILD:
    time.sleep(0.5)


def task_func(values):
    if IN_CHILD:
        return sum(value * value for value in values)
    return -1
