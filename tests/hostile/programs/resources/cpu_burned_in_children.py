"""Burns processor time in children while the parent sleeps for ever.

expect: OVER_LIMIT wall_time | OVER_LIMIT cpu_time
"""

import os
import time


def task_func(values):
    for _ in range(4):
        if os.fork() == 0:
            while True:
                pass
    while True:
        time.sleep(1)
