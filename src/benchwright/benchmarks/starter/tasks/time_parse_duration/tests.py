import unittest


class TestCases(unittest.TestCase):
    def test_example(self):
        self.assertEqual(task_func("1h 30m"), 5400.0)

    def test_days_and_fractions(self):
        self.assertEqual(task_func("2D0.5s"), 172800.5)
        self.assertEqual(task_func("1.5m"), 90.0)

    def test_all_units(self):
        self.assertEqual(task_func(" 1d 1h\t1m 1s "), 90061.0)

    def test_result_is_a_float(self):
        self.assertIs(type(task_func("7s")), float)

    def test_not_a_duration(self):
        for text in ("", "  ", "soon", "5", "h", "5x", "-3s", "1h and 2m", "1h, 2m"):
            with self.assertRaises(ValueError, msg=text):
                task_func(text)

    def test_order_of_units(self):
        for text in ("5s 1m", "1m 1h"):
            with self.assertRaises(ValueError, msg=text):
                task_func(text)

    def test_repeated_unit(self):
        with self.assertRaises(ValueError):
            task_func("1h 2h")
