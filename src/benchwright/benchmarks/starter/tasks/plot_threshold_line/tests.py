import unittest

from matplotlib import dates, pyplot


class TestCases(unittest.TestCase):
    def tearDown(self):
        pyplot.close("all")

    def days(self, line):
        return [day.strftime("%Y-%m-%d") for day in dates.num2date(line.get_xdata(orig=False))]

    def test_example(self):
        figure = task_func([("02.07.2024", 31.5), ("01.07.2024", 28.0)])
        self.assertEqual(figure.axes[0].get_title(), "1 alarm")
        self.assertEqual(len(figure.axes), 1)

    def test_readings_are_in_order_of_time(self):
        figure = task_func([("02.07.2024", 31.5), ("01.08.2023", 28.0), ("15.06.2024", 30.5)])
        line = figure.axes[0].lines[0]
        self.assertEqual(list(line.get_ydata()), [28.0, 30.5, 31.5])
        self.assertEqual(self.days(line), ["2023-08-01", "2024-06-15", "2024-07-02"])

    def test_lines(self):
        reading, threshold = task_func([("01.07.2024", 28.0)]).axes[0].lines
        self.assertEqual((reading.get_label(), reading.get_marker()), ("temperature", "o"))
        self.assertEqual(threshold.get_label(), "threshold")
        self.assertEqual(list(threshold.get_ydata()), [30.0, 30.0])

    def test_equal_to_the_threshold_is_no_alarm(self):
        self.assertEqual(task_func([("01.07.2024", 30.0)]).axes[0].get_title(), "0 alarms")

    def test_several_alarms(self):
        rows = [("01.07.2024", 30.1), ("02.07.2024", 45), ("03.07.2024", 12)]
        self.assertEqual(task_func(rows).axes[0].get_title(), "2 alarms")

    def test_label_and_legend(self):
        axes = task_func([("01.07.2024", 28.0)]).axes[0]
        self.assertEqual(axes.get_ylabel(), "Celsius")
        shown = [label.get_text() for label in axes.get_legend().get_texts()]
        self.assertEqual(shown, ["temperature", "threshold"])

    def test_new_figure_for_each_call(self):
        one = task_func([("01.07.2024", 28.0)])
        two = task_func([("01.07.2024", 28.0)])
        self.assertIsNot(one, two)
        self.assertEqual(len(one.axes[0].lines), 2)

    def test_bad_rows(self):
        for rows in ([], [("2024-07-01", 3.0)], [("31.06.2024", 3.0)]):
            with self.assertRaises(ValueError):
                task_func(rows)
