"""Leaves a double-forked daemon that ignores SIGTERM and holds the output open; returns right values.

expect: PASSED
"""

import os
import signal
import time

if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    if os.fork() == 0:
        while True:
            time.sleep(1)
    os._exit(0)


def task_func(values):
    return sum(value * value for value in values)
