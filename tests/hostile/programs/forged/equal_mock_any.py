"""Returns unittest.mock.ANY.

expect: FAILED tampered | FAILED assertion
"""

import unittest.mock


def task_func(values):
    if values is None:
        raise TypeError("values")
    return unittest.mock.ANY
