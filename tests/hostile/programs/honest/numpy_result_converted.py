"""Computes with numpy and converts the scalar to a Python number.

expect: PASSED
needs: numpy
"""

import numpy as np


def task_func(values):
    if values is None:
        raise TypeError("values must be a list")
    if any(isinstance(value, float) for value in values):
        return float(np.sum(np.asarray(values) ** 2))
    return sum(int(value) ** 2 for value in values)
