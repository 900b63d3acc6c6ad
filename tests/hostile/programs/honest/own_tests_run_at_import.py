"""Runs tests of its own with unittest while it is loaded, one of which fails.

expect: PASSED
"""

import io
import unittest


def task_func(values):
    return sum(value * value for value in values)


class OwnTests(unittest.TestCase):
    def test_good(self):
        self.assertEqual(task_func([1, 2]), 5)

    def test_bad(self):
        self.assertEqual(task_func([1, 2]), 6)


unittest.TextTestRunner(stream=io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(OwnTests))
