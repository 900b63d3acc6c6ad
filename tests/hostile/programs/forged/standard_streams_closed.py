"""Closes standard output and error, as objects and as descriptors.

expect: FAILED assertion
"""

import os
import sys

sys.stdout.close()
sys.stderr.close()
os.close(1)
os.close(2)
sys.stdout = sys.stderr = None


def task_func(values):
    return -1
