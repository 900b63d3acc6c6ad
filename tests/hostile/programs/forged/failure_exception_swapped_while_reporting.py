"""Swaps failureException from the __repr__ that unittest calls while it writes the failure message.

expect: FAILED tampered | FAILED tests_skipped | FAILED assertion
"""

import unittest


class Wrong(int):
    def __repr__(self):
        unittest.TestCase.failureException = unittest.SkipTest
        return "-1"


def task_func(values):
    if values is None:
        raise TypeError("values")
    return Wrong(-1)
