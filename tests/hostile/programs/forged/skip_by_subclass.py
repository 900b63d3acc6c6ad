"""Raises a subclass of SkipTest and TypeError, which also satisfies assertRaises.

expect: FAILED tests_skipped
"""

import unittest


class Unsupported(unittest.SkipTest, TypeError):
    pass


def task_func(values):
    raise Unsupported("not supported")
