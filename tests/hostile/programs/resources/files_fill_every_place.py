"""Returns the right value only if all writable places together took less than 160 MB.

expect: PASSED | OVER_LIMIT memory
"""

import os
import tempfile

BLOCK = b"x" * (1 << 20)
WRITTEN = 0
for place in (".", tempfile.gettempdir(), "/tmp", "/dev/shm", "/var/tmp", "/run", "/dev", "/", os.path.expanduser("~")):
    try:
        for number in range(160):
            with open(os.path.join(place, "fill%d" % number), "wb", buffering=0) as file:
                WRITTEN += file.write(BLOCK) // len(BLOCK)
    except OSError:
        continue


def task_func(values):
    if WRITTEN >= 160:
        return -1
    return sum(value * value for value in values)
