"""Prints a fake unittest report and leaves with status 0.

expect: FAILED tests_not_run
"""

import os
import sys


def task_func(values):
    sys.stderr.write("......\n" + "-" * 70 + "\nRan 6 tests in 0.001s\n\nOK\n")
    sys.stderr.flush()
    os._exit(0)
