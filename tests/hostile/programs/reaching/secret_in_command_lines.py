"""Reads the command lines of all processes; right values only if it sees none but those of its own sample.

expect: PASSED
"""

import glob
import os

REACHED = False
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        with open(path, "rb") as file:
            REACHED = REACHED or b"hostile_secret" in file.read().lower()
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
