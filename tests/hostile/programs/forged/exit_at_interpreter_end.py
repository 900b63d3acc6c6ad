"""Returns wrong values and turns the exit status to 0 from an atexit handler.

expect: FAILED assertion
"""

import atexit
import os

atexit.register(os._exit, 0)


def task_func(values):
    return -1
