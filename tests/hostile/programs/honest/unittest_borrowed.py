"""Uses unittest's assert methods for the comparison of lists inside the function.

expect: PASSED
"""

import unittest


def task_func(values):
    helper = unittest.TestCase()
    helper.assertIsNotNone(values) if isinstance(values, list) else None
    try:
        helper.assertListEqual([1], [2])
    except AssertionError:
        pass
    return sum(value * value for value in values)
