"""Has faulthandler's watchdog end the process in the middle of a test.

expect: FAILED tests_not_run
"""

import faulthandler
import os
import time

SINK = open(os.devnull, "w")


def task_func(values):
    faulthandler.dump_traceback_later(0.05, exit=True, file=SINK)
    time.sleep(2)
    return -1
