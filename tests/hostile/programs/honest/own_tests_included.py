"""Brings tests of its own, in a class of the same name as the benchmark's, and a main guard.

expect: PASSED
"""

import unittest


def task_func(values):
    return sum(value * value for value in values)


class TestCases(unittest.TestCase):
    def setUp(self):
        self.values = [1, 2]

    def test_own(self):
        self.assertEqual(task_func(self.values), 5)

    @unittest.skip("not ready")
    def test_later(self):
        self.fail()


if __name__ == "__main__":
    unittest.main()
