import os
import tempfile
import unittest
from decimal import Decimal as D


class TestCases(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "data.csv")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, text):
        with open(self.path, "w", newline="", encoding="utf-8") as file:
            file.write(text)

    def test_example(self):
        with open("costs.csv", "w") as file:
            file.write("category,amount\nFood,1.10\nfood,2.20\nfun,?\n")
        self.assertEqual(task_func("costs.csv"), ({"food": D("3.30")}, 1))

    def test_amounts_are_exact(self):
        self.write("amount,day,category\n0.1,mon,a\n0.2,tue,a\n")
        totals, skipped = task_func(self.path)
        self.assertEqual((totals, skipped), ({"a": D("0.3")}, 0))
        self.assertIsInstance(totals["a"], D)

    def test_names_are_ordered_and_cleaned(self):
        self.write("category,amount\n Zoo ,1\nart,2\nZOO, 3 \n,4\n")
        self.assertEqual(
            list(task_func(self.path)[0].items()), [("art", D(2)), ("other", D(4)), ("zoo", D(4))]
        )

    def test_rows_that_are_skipped(self):
        self.write("category,amount\na,\na,NaN\na,Infinity\na,12x\na\na,-5\n")
        self.assertEqual(task_func(self.path), ({"a": D("-5")}, 5))

    def test_quoted_fields(self):
        self.write('category,amount\n"food, cold","1.5"\n"food, cold",1\n')
        self.assertEqual(task_func(self.path), ({"food, cold": D("2.5")}, 0))

    def test_no_rows(self):
        self.write("category,amount\n")
        self.assertEqual(task_func(self.path), ({}, 0))

    def test_missing_column(self):
        for heading in ("category,sum\na,1\n", "kind,amount\na,1\n", ""):
            self.write(heading)
            with self.assertRaises(KeyError):
                task_func(self.path)
