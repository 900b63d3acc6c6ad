import unittest

import numpy as np


class TestCases(unittest.TestCase):
    def test_example(self):
        self.assertEqual(task_func([1, 9, 2, 3, 30], 3).tolist(), [5.0, 2.0, 3.0, 3.0, 16.5])

    def test_width_one_changes_nothing(self):
        result = task_func([4, 1, 3], 1)
        self.assertIsInstance(result, np.ndarray)
        self.assertEqual(result.dtype, np.dtype(float))
        self.assertEqual(result.tolist(), [4.0, 1.0, 3.0])

    def test_wider_window(self):
        self.assertEqual(task_func([5, 1, 4, 2, 3, 9], 5).tolist(), [4.0, 3.0, 3.0, 3.0, 3.5, 3.0])

    def test_window_wider_than_the_input(self):
        self.assertEqual(task_func([1, 2, 6], 9).tolist(), [2.0, 2.0, 2.0])

    def test_bad_width(self):
        for width in (0, 2, 4, -1):
            with self.assertRaises(ValueError):
                task_func([1, 2, 3, 4, 5], width)

    def test_bad_values(self):
        for values in ([], [[1, 2], [3, 4]]):
            with self.assertRaises(ValueError):
                task_func(values, 3)

    def test_input_is_not_changed(self):
        data = np.array([3.0, 1.0, 2.0])
        task_func(data, 3)
        self.assertEqual(data.tolist(), [3.0, 1.0, 2.0])
