import unittest

import pandas as pd


class TestCases(unittest.TestCase):
    def setUp(self):
        self.sales = pd.DataFrame(
            {
                "region": ["west", "east", "west", "north"],
                "units": [2, 1, 1, 4],
                "price": [5.0, 15.0, 5.0, 10.0],
                "clerk": ["a", "b", "c", "d"],
            }
        )

    def test_example(self):
        sales = pd.DataFrame({"region": ["N", "S", "N"], "units": [1, 3, 2], "price": [10.0, 10.0, 20.0]})
        self.assertEqual(task_func(sales).values.tolist(), [["N", 50.0, 0.625], ["S", 30.0, 0.375]])

    def test_columns_and_index(self):
        result = task_func(self.sales)
        self.assertEqual(list(result.columns), ["region", "revenue", "share"])
        self.assertEqual(list(result.index), [0, 1, 2])

    def test_order_and_ties(self):
        result = task_func(self.sales)
        self.assertEqual(result["region"].tolist(), ["north", "east", "west"])
        self.assertEqual(result["revenue"].tolist(), [40.0, 15.0, 15.0])

    def test_share_is_rounded(self):
        result = task_func(self.sales)
        self.assertEqual(result["share"].tolist(), [0.5714, 0.2143, 0.2143])

    def test_total_of_zero(self):
        result = task_func(self.sales.assign(price=0.0))
        self.assertEqual(result["share"].tolist(), [0.0, 0.0, 0.0])
        self.assertEqual(result["region"].tolist(), ["east", "north", "west"])

    def test_missing_column(self):
        for column in ("region", "units", "price"):
            with self.assertRaises(ValueError):
                task_func(self.sales.drop(columns=column))

    def test_input_is_not_changed(self):
        before = self.sales.copy()
        task_func(self.sales)
        pd.testing.assert_frame_equal(self.sales, before)
