"""Returns values whose comparison never ends.

expect: OVER_LIMIT wall_time
"""

import time


class Slow(int):
    def __eq__(self, other):
        while True:
            time.sleep(1)

    __hash__ = int.__hash__


def task_func(values):
    return Slow(14)
