"""Registers harmless exit handlers and signal handlers.

expect: PASSED
"""

import atexit
import signal
import sys

atexit.register(print, "goodbye")
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
signal.signal(signal.SIGINT, signal.SIG_DFL)


def task_func(values):
    return sum(value * value for value in values)
