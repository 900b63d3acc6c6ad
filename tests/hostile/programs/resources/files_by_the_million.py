"""Makes a million empty files and lets the refusal show.

expect: FAILED exception
"""

import os


def task_func(values):
    for number in range(1_000_000):
        os.close(os.open("file%d" % number, os.O_CREAT | os.O_WRONLY))
    return sum(value * value for value in values)
