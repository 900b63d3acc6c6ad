"""Returns numpy's float64, which is a float with an __eq__ written in C.

expect: PASSED
needs: numpy
"""

import numpy as np


def task_func(values):
    total = sum(value * value for value in values)
    return np.float64(total) if isinstance(total, float) else total
