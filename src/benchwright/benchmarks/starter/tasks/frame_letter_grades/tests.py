import unittest

import pandas as pd


class TestCases(unittest.TestCase):
    def grade(self, *values):
        return task_func(pd.DataFrame({"score": list(values)}))["grade"].tolist()

    def test_example(self):
        scores = pd.DataFrame({"name": ["Ann", "Bo", "Cy"], "score": [80, 49.5, None]})
        self.assertEqual(task_func(scores)["grade"].tolist(), ["A", "D", "missing"])

    def test_edges_belong_to_the_better_grade(self):
        self.assertEqual(self.grade(0, 50, 65, 80, 100), ["D", "C", "B", "A", "A"])

    def test_just_below_the_edges(self):
        self.assertEqual(self.grade(49.99, 64.99, 79.99), ["D", "C", "B"])

    def test_out_of_scale(self):
        for value in (-0.5, 100.5):
            with self.assertRaises(ValueError):
                self.grade(60, value)

    def test_only_missing(self):
        self.assertEqual(self.grade(None, float("nan")), ["missing", "missing"])

    def test_index_and_columns_are_kept(self):
        frame = pd.DataFrame({"score": [10, 90], "name": ["x", "y"]}, index=["r2", "r1"])
        result = task_func(frame)
        self.assertEqual(list(result.columns), ["score", "name", "grade"])
        self.assertEqual(list(result.index), ["r2", "r1"])
        self.assertEqual(result["grade"].tolist(), ["D", "A"])

    def test_input_is_not_changed(self):
        frame = pd.DataFrame({"score": [10, 90]})
        task_func(frame)
        self.assertEqual(list(frame.columns), ["score"])
