"""Leaves a process named hostile_trace that would outlive its sample; right values in any case.

expect: PASSED
"""

import ctypes
import os
import signal
import time

if os.fork() == 0:
    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    ctypes.CDLL(None).prctl(15, b"hostile_trace", 0, 0, 0)
    time.sleep(100_000)
    os._exit(0)


def task_func(values):
    return sum(value * value for value in values)
