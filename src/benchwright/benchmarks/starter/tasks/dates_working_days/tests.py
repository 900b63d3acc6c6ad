import unittest


class TestCases(unittest.TestCase):
    def test_example(self):
        self.assertEqual(task_func("2024-04-29", "2024-05-05"), 4)

    def test_both_ends_count(self):
        self.assertEqual(task_func("2024-06-03", "2024-06-07"), 5)

    def test_single_day(self):
        self.assertEqual(task_func("2024-06-03", "2024-06-03"), 1)
        self.assertEqual(task_func("2024-06-02", "2024-06-02"), 0)
        for holiday in ("2025-01-01", "2024-05-01", "2024-12-25", "2024-12-26"):
            self.assertEqual(task_func(holiday, holiday), 0)

    def test_turn_of_the_year(self):
        self.assertEqual(task_func("2024-12-23", "2025-01-03"), 7)

    def test_holiday_on_a_weekend_counts_once(self):
        self.assertEqual(task_func("2021-12-20", "2021-12-31"), 10)

    def test_leap_year(self):
        self.assertEqual(task_func("2024-02-01", "2024-02-29"), 21)
        self.assertEqual(task_func("2023-02-01", "2023-02-28"), 20)

    def test_bad_input(self):
        for first, last in (("2024-05-02", "2024-05-01"), ("2024-02-30", "2024-03-01"), ("soon", "later")):
            with self.assertRaises(ValueError):
                task_func(first, last)
