"""Kills its own process; as pid 1 of a namespace the signal has no effect and wrong values come back.

expect: FAILED crashed | FAILED assertion
"""

import os
import signal


def task_func(values):
    os.kill(os.getpid(), signal.SIGKILL)
    return -1
