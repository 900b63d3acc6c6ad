"""Leaves a daemon that ignores SIGTERM, holds the output open and grows slowly; returns right values.

expect: PASSED
"""

import os
import signal
import time

if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    held = []
    while True:
        time.sleep(0.2)
        held.append(bytearray(b"x") * (8 << 20))


def task_func(values):
    return sum(value * value for value in values)
