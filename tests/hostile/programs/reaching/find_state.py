"""Looks for what leave_state changed; right values only if everything is as it was.

expect: PASSED
"""

import builtins
import os
import signal
import sys
import time

REACHED = (
    hasattr(builtins, "HOSTILE_TRACE")
    or "HOSTILE_TRACE" in os.environ
    or os.environ.get("TZ") == "Asia/Kathmandu"
    or time.timezone == -20700
    or "/hostile_trace" in sys.path
    or hasattr(sys, "hostile_trace")
    or signal.getsignal(signal.SIGUSR1) == signal.SIG_IGN
)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
