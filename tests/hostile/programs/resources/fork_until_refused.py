"""Forks sleeping children until the system refuses and lets the error show.

expect: FAILED exception
"""

import os
import time


def task_func(values):
    while True:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
