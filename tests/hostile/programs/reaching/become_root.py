"""Changes its user, groups and capabilities; right values only if it is not root and cannot become it.

expect: PASSED
"""

import os

REACHED = 0 in (os.getuid(), os.geteuid())
for attempt in (
    lambda: os.setuid(0),
    lambda: os.seteuid(0),
    lambda: os.setresuid(0, 0, 0),
    lambda: os.setgid(0),
    lambda: os.setgroups([0]),
    lambda: os.setgroups([]),
):
    try:
        attempt()
        REACHED = True
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
