"""Kills whatever started it, again and again, and returns wrong values.

expect: FAILED
"""

import os
import signal
import time


def task_func(values):
    for _ in range(5):
        if os.getppid() > 0:
            try:
                os.kill(os.getppid(), signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.01)
    return -1
