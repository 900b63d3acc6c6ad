"""Changes the environment, the working directory, sys.argv, sys.path and the time zone.

expect: PASSED
"""

import os
import sys
import time


def task_func(values):
    os.environ["TZ"] = "UTC"
    time.tzset()
    os.makedirs("work", exist_ok=True)
    here = os.getcwd()
    os.chdir("work")
    sys.argv = ["program", "--verbose"]
    sys.path.insert(0, os.getcwd())
    try:
        return sum(value * value for value in values)
    finally:
        os.chdir(here)
