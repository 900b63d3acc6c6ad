import unittest

from matplotlib import colors, pyplot


class TestCases(unittest.TestCase):
    def tearDown(self):
        pyplot.close("all")

    def test_example(self):
        axes = task_func({"Ann": 50, "Bo": 75})
        self.assertEqual(axes.get_title(), "Scores (mean 62.5)")
        self.assertEqual([bar.get_height() for bar in axes.patches], [75, 50])

    def test_labels(self):
        axes = task_func({"Ann": 50})
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("Student", "Points"))

    def test_tick_labels_follow_the_order(self):
        axes = task_func({"Cy": 70, "Di": 90, "Bo": 70})
        axes.figure.canvas.draw()
        self.assertEqual([label.get_text() for label in axes.get_xticklabels()], ["Di", "Bo", "Cy"])
        self.assertEqual([bar.get_height() for bar in axes.patches], [90, 70, 70])

    def test_colours(self):
        axes = task_func({"a": 60, "b": 59.9, "c": 100})
        found = [colors.to_hex(bar.get_facecolor()) for bar in axes.patches]
        green, red = colors.to_hex("tab:green"), colors.to_hex("tab:red")
        self.assertEqual(found, [green, green, red])

    def test_mean_is_rounded(self):
        self.assertEqual(task_func({"a": 1, "b": 1, "c": 0}).get_title(), "Scores (mean 0.7)")

    def test_new_figure_for_each_call(self):
        one = task_func({"a": 1})
        two = task_func({"b": 2})
        self.assertIsNot(one.figure, two.figure)
        self.assertEqual(len(one.patches), 1)

    def test_no_scores(self):
        with self.assertRaises(ValueError):
            task_func({})
