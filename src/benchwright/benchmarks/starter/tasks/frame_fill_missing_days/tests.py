import unittest

import pandas as pd


class TestCases(unittest.TestCase):
    def test_example(self):
        readings = pd.DataFrame({"date": ["2024-05-04", "2024-05-01"], "value": [7, 1]})
        self.assertEqual(task_func(readings)["value"].tolist(), [1.0, 3.0, 5.0, 7.0])
        self.assertEqual(task_func(readings)["filled"].tolist(), [False, True, True, False])

    def test_columns_and_index(self):
        result = task_func(pd.DataFrame({"date": ["2024-01-03", "2024-01-01"], "value": [3, 1]}))
        self.assertEqual(list(result.columns), ["date", "value", "filled"])
        self.assertEqual(result.index.tolist(), [0, 1, 2])

    def test_leap_day_is_there(self):
        result = task_func(pd.DataFrame({"date": ["2024-02-28", "2024-03-01"], "value": [1.0, 2.0]}))
        self.assertEqual(
            [day.strftime("%Y-%m-%d") for day in result["date"]], ["2024-02-28", "2024-02-29", "2024-03-01"]
        )
        self.assertEqual(result["value"].tolist(), [1.0, 1.5, 2.0])

    def test_last_row_of_a_date_counts(self):
        frame = pd.DataFrame({"date": ["2024-06-02", "2024-06-01", "2024-06-01"], "value": [4.0, 100.0, 2.0]})
        self.assertEqual(task_func(frame)["value"].tolist(), [2.0, 4.0])

    def test_single_day(self):
        result = task_func(pd.DataFrame({"date": ["2023-12-31"], "value": [9]}))
        self.assertEqual(result["value"].tolist(), [9.0])
        self.assertEqual(result["filled"].tolist(), [False])

    def test_no_rows(self):
        with self.assertRaises(ValueError):
            task_func(pd.DataFrame({"date": [], "value": []}))

    def test_input_is_not_changed(self):
        frame = pd.DataFrame({"date": ["2024-05-04", "2024-05-01"], "value": [7, 1]}, index=[5, 3])
        before = frame.copy()
        task_func(frame)
        pd.testing.assert_frame_equal(frame, before)
