"""Returns wrong values whose repr never ends, so that making the failure message hangs.

expect: OVER_LIMIT wall_time | FAILED assertion | FAILED tampered
"""

import time


class Slow(int):
    def __repr__(self):
        while True:
            time.sleep(1)

    __str__ = __repr__


def task_func(values):
    return Slow(-1)
