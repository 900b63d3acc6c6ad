"""Raises SkipTest in every test.

expect: FAILED tests_skipped
"""

import unittest


def task_func(values):
    raise unittest.SkipTest("not supported on this platform")
