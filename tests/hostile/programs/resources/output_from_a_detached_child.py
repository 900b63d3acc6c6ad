"""Has a detached child write without end while the function waits and then returns right values.

expect: OVER_LIMIT output
limits: wall=20
"""

import os
import time


def task_func(values):
    if os.fork() == 0:
        os.setsid()
        while True:
            os.write(1, b"x" * 65536)
    time.sleep(8)
    return sum(value * value for value in values)
