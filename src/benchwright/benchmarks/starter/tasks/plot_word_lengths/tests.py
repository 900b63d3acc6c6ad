import unittest

import numpy as np
from matplotlib import pyplot


class TestCases(unittest.TestCase):
    def tearDown(self):
        pyplot.close("all")

    def test_example(self):
        axes, counts = task_func("a fish ate an ant")
        self.assertEqual(counts.tolist(), [1, 1, 2, 1])
        self.assertEqual([bar.get_height() for bar in axes.patches], [1, 1, 2, 1])

    def test_counts_are_integers(self):
        _, counts = task_func("one two")
        self.assertIsInstance(counts, np.ndarray)
        self.assertTrue(np.issubdtype(counts.dtype, np.integer))

    def test_empty_bins_in_between(self):
        _, counts = task_func("a, b; elephant")
        self.assertEqual(counts.tolist(), [2, 0, 0, 0, 0, 0, 0, 1])

    def test_bins_are_centred(self):
        axes, _ = task_func("bb ccc")
        centres = [bar.get_x() + bar.get_width() / 2 for bar in axes.patches]
        self.assertEqual(centres, [2.0, 3.0])

    def test_labels(self):
        axes, _ = task_func("word")
        self.assertEqual(axes.get_title(), "Word lengths")
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("Length", "Words"))

    def test_mean_line(self):
        axes, _ = task_func("a four")
        (line,) = axes.lines
        self.assertEqual(list(line.get_xdata()), [2.5, 2.5])
        self.assertEqual((line.get_linestyle(), line.get_label()), ("--", "mean"))
        self.assertIn("mean", [label.get_text() for label in axes.get_legend().get_texts()])

    def test_no_words(self):
        for text in ("", " ... !"):
            with self.assertRaises(ValueError):
                task_func(text)
