"""Changes everything in its process that a careless parent might hand to the next sample; right values in any case.

expect: PASSED
"""

import builtins
import locale
import os
import random
import signal
import sys
import time

builtins.HOSTILE_TRACE = True
os.environ["HOSTILE_TRACE"] = "1"
os.environ["TZ"] = "Asia/Kathmandu"
time.tzset()
os.umask(0o777)
sys.path.insert(0, "/hostile_trace")
sys.hostile_trace = True
random.seed(1)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
os.nice(3)
try:
    locale.setlocale(locale.LC_ALL, "C")
except locale.Error:
    pass
os.umask(0o022)


def task_func(values):
    return sum(value * value for value in values)
