"""Leaves a child that stops its parent again and again; as pid 1 of a namespace the parent is immune.

expect: PASSED | OVER_LIMIT wall_time
"""

import os
import signal
import time

PARENT = os.getpid()
if os.fork() == 0:
    os.setsid()
    while True:
        try:
            os.kill(PARENT, signal.SIGSTOP)
        except OSError:
            os._exit(0)
        time.sleep(0.001)


def task_func(values):
    return sum(value * value for value in values)
