import unittest


class TestCases(unittest.TestCase):
    def test_example(self):
        self.assertEqual(task_func("The cat and the dog. A cat!", 2), [("cat", 2), ("dog", 1)])

    def test_only_stop_words(self):
        self.assertEqual(task_func("to the"), [])
        self.assertEqual(task_func(""), [])

    def test_equal_counts_are_alphabetical(self):
        self.assertEqual(
            task_func("pear fig apple fig pear apple kiwi", 4),
            [("apple", 2), ("fig", 2), ("pear", 2), ("kiwi", 1)],
        )

    def test_default_limit_is_three(self):
        self.assertEqual(task_func("d d d d c c c b b e"), [("d", 4), ("c", 3), ("b", 2)])

    def test_case_and_apostrophes(self):
        self.assertEqual(task_func("Don't DON'T stop-stop", 5), [("don't", 2), ("stop", 2)])

    def test_digits_separate_words(self):
        self.assertEqual(task_func("red2red 42 blue", 5), [("red", 2), ("blue", 1)])

    def test_smallest_limit(self):
        self.assertEqual(task_func("some words, some", 1), [("some", 2)])

    def test_limit_below_one(self):
        for limit in (0, -3):
            with self.assertRaises(ValueError):
                task_func("some words", limit)
