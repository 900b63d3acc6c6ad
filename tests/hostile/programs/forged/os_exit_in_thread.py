"""Leaves with status 0 from a thread while the first test still waits.

expect: FAILED tests_not_run
"""

import os
import threading
import time


def task_func(values):
    threading.Timer(0.05, os._exit, [0]).start()
    time.sleep(2)
    return -1
