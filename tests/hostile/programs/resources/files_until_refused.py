"""Makes files until refused, catches that and returns right values; the next sample must find room again.

expect: PASSED
"""

import os


def task_func(values):
    for number in range(20_000):
        try:
            os.close(os.open("file%d" % number, os.O_CREAT | os.O_WRONLY))
        except OSError:
            break
    return sum(value * value for value in values)
