import unittest


class TestCases(unittest.TestCase):
    def test_example(self):
        result = task_func(["Émile", "eva", "Bo", " "])
        self.assertEqual(result, {"B": ["Bo"], "E": ["eva", "Émile"]})

    def test_no_names(self):
        self.assertEqual(task_func([]), {})
        self.assertEqual(task_func(["", "  ", "\t"]), {})

    def test_other_characters(self):
        self.assertEqual(task_func(["7 of 9", "_x", "Ångström"]), {"#": ["7 of 9", "_x"], "A": ["Ångström"]})

    def test_initials_are_ordered(self):
        self.assertEqual(list(task_func(["zoe", "mia", "1st", "adam"])), ["#", "A", "M", "Z"])

    def test_duplicates_and_white_space(self):
        self.assertEqual(task_func([" Ann ", "Ann", "Abe"]), {"A": ["Abe", "Ann"]})

    def test_plain_types(self):
        result = task_func(["ian", "Ida"])
        self.assertIs(type(result["I"]), list)
        self.assertEqual(result, {"I": ["Ida", "ian"]})

    def test_letters_of_other_scripts(self):
        self.assertEqual(task_func(["Ωmega", "Жанна"]), {"#": ["Ωmega", "Жанна"]})
