"""Keeps the assert methods and swaps the code inside them.

expect: FAILED tampered
"""

import unittest


def nothing(self, *arguments, **options):
    return None


for name in ("assertEqual", "_baseAssertEqual", "assertAlmostEqual", "assertIsInstance", "assertListEqual"):
    getattr(unittest.TestCase, name).__code__ = nothing.__code__


def task_func(values):
    if values is None:
        raise TypeError("values")
    return -1
