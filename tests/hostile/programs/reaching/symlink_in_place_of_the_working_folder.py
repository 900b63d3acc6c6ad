"""Renames and replaces its own working directory; right values in any case.

expect: PASSED
"""

import os

HERE = os.getcwd()
for attempt in (
    lambda: os.rename(HERE, HERE + ".moved"),
    lambda: os.symlink("/etc", HERE),
    lambda: os.rmdir(HERE),
    lambda: os.chdir("/"),
):
    try:
        attempt()
    except OSError:
        pass


def task_func(values):
    return sum(value * value for value in values)
