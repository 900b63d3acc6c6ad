"""Prints what unittest prints when all is well, to both streams.

expect: FAILED assertion
"""

import sys

for stream in (sys.stdout, sys.stderr):
    stream.write("......\n" + "-" * 70 + "\nRan 6 tests in 0.001s\n\nOK\n")
    stream.flush()


def task_func(values):
    return -1
