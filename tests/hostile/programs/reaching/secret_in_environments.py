"""Searches its own environment and those of all processes for HOSTILE_SECRET, which a test sets on the host.

expect: PASSED
"""

import glob
import os

REACHED = "HOSTILE_SECRET" in os.environ
for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/task/*/environ"):
    try:
        with open(path, "rb") as file:
            REACHED = REACHED or b"HOSTILE_SECRET" in file.read()
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
