import unittest


class TestCases(unittest.TestCase):
    def test_example(self):
        self.assertEqual(
            task_func([("09:00", "10:00"), ("09:30", "11:00"), ("13:00", "13:15")]),
            (135, [("09:00", "11:00"), ("13:00", "13:15")]),
        )

    def test_no_meetings(self):
        self.assertEqual(task_func([]), (0, []))

    def test_touching_meetings(self):
        self.assertEqual(task_func([("10:00", "11:00"), ("09:00", "10:00")]), (120, [("09:00", "11:00")]))

    def test_meeting_within_another(self):
        self.assertEqual(task_func([("08:00", "12:00"), ("09:00", "09:30")]), (240, [("08:00", "12:00")]))

    def test_gap_of_one_minute(self):
        self.assertEqual(
            task_func([("08:00", "08:59"), ("09:00", "09:01")]),
            (60, [("08:00", "08:59"), ("09:00", "09:01")]),
        )

    def test_bad_meeting(self):
        for meeting in (("10:00", "09:00"), ("10:00", "10:00"), ("25:00", "26:00"), ("ten", "11:00")):
            with self.assertRaises(ValueError):
                task_func([("07:00", "07:30"), meeting])

    def test_leading_zero_is_written(self):
        self.assertEqual(task_func([("9:05", "9:06")]), (1, [("09:05", "09:06")]))
