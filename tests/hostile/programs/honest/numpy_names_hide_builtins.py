"""Imports everything from numpy, which hides round, abs, sum, min and max from the tests as well.

expect: PASSED
needs: numpy
"""

from numpy import *


def task_func(values):
    total = 0
    for value in values:
        total += value * value
    return total
