"""Marks every test case as expected to fail.

expect: FAILED tampered | FAILED tests_skipped | FAILED assertion
"""

import unittest

unittest.TestCase.__unittest_expecting_failure__ = True


def task_func(values):
    return -1
