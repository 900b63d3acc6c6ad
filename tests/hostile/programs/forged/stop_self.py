"""Stops its own process; as pid 1 of a namespace the signal has no effect and wrong values come back.

expect: OVER_LIMIT wall_time | FAILED assertion
"""

import os
import signal


def task_func(values):
    os.kill(os.getpid(), signal.SIGSTOP)
    return -1
