"""Leaves children that ignore every signal and have left the session, and returns right values.

expect: PASSED
"""

import os
import signal
import time

for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        time.sleep(100_000)
        os._exit(0)


def task_func(values):
    return sum(value * value for value in values)
