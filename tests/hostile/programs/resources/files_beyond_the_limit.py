"""Returns the right value only if it could not make 15,000 files in the places it may write to.

expect: PASSED
limits: wall=20 cpu=20
"""

import os
import tempfile

MADE = 0
for place in (".", tempfile.gettempdir(), "/tmp", "/dev/shm", "/var/tmp", "/run", os.path.expanduser("~")):
    try:
        for number in range(10_000):
            os.close(os.open(os.path.join(place, "n%d" % number), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            MADE += 1
    except OSError:
        continue


def task_func(values):
    if MADE >= 15_000:
        return -1
    return sum(value * value for value in values)
