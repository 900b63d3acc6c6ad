"""Ignores and blocks every signal it can and sleeps for ever.

expect: OVER_LIMIT wall_time
"""

import signal
import time


def task_func(values):
    for number in signal.valid_signals():
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        time.sleep(1000)
