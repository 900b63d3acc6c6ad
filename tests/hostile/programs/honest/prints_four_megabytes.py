"""Prints 4 MB of progress, to both streams, with odd characters.

expect: PASSED
"""

import sys


def task_func(values):
    for number in range(2048):
        print("progress \u2713 %06d" % number, "." * 200)
        sys.stderr.write("\x1b[31mOK\x1b[0m FAILED (failures=1) %d\r" % number)
    return sum(value * value for value in values)
