"""Writes megabytes of nonsense to every socket until it is stopped.

expect: FAILED tampered | OVER_LIMIT
"""

import os
import stat


def task_func(values):
    nonsense = b"\0" * (1 << 20)
    while True:
        for descriptor in range(3, 64):
            try:
                if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                    os.write(descriptor, nonsense)
            except OSError:
                pass
