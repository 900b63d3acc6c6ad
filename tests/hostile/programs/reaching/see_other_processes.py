"""Lists /proc and probes every process number; right values only if all belong to its own sample.

expect: PASSED
"""

import os

OWN = {os.getpid(), os.getppid(), 1}
REACHED = False
for number in range(2, 40_000):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        continue
    except PermissionError:
        REACHED = True
    else:
        REACHED = REACHED or number not in OWN
REACHED = REACHED or any(name.isdigit() and int(name) not in OWN for name in os.listdir("/proc"))


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
