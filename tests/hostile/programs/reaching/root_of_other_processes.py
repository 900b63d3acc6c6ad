"""Looks through /proc/<pid>/root and cwd for another file system; right values only if there is none.

expect: PASSED
"""

import os

REACHED = False
OWN = sorted(os.listdir("/"))
for name in os.listdir("/proc"):
    if name.isdigit():
        for link in ("root", "cwd/../../../../../.."):
            try:
                REACHED = REACHED or sorted(os.listdir("/proc/%s/%s" % (name, link))) != OWN
            except OSError:
                pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
