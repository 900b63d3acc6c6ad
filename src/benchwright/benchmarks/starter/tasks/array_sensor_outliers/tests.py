import unittest


class TestCases(unittest.TestCase):
    def test_example(self):
        result = task_func([10, 11, None, 10, 12, 50])
        self.assertEqual(result, {"median": 11.0, "spread": 1.4826, "outliers": [5]})

    def test_no_outlier(self):
        self.assertEqual(task_func([1, 2, 3, 4, 5])["outliers"], [])

    def test_both_directions(self):
        result = task_func([100, 0, 101, 99, 100, 102, 98, 300])
        self.assertEqual(result["outliers"], [1, 7])
        self.assertEqual(result["median"], 100.0)

    def test_spread_of_zero(self):
        self.assertEqual(task_func([5, 5, 5, 6]), {"median": 5.0, "spread": 0.0, "outliers": [3]})

    def test_positions_count_unusable_readings(self):
        self.assertEqual(task_func([float("nan"), None, 1, 1, 2, 1, 9])["outliers"], [4, 6])

    def test_limit(self):
        self.assertEqual(task_func([0, 1, 2, 3, 4, 5, 6, 13])["outliers"], [])
        self.assertEqual(task_func([0, 1, 2, 3, 4, 5, 6, 14.5])["outliers"], [7])

    def test_nothing_usable(self):
        for readings in ([], [None, float("nan")]):
            with self.assertRaises(ValueError):
                task_func(readings)
