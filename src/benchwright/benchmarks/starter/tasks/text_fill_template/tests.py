import unittest


class TestCases(unittest.TestCase):
    def test_example(self):
        self.assertEqual(task_func("$greeting, $name!", {"name": "Ada"}), "Hello, Ada!")

    def test_none_means_default(self):
        self.assertEqual(task_func("${closing}: $$5", {"closing": None}), "Kind regards: $5")

    def test_given_value_wins(self):
        self.assertEqual(task_func("$greeting $n", {"greeting": "Hi", "n": 3}), "Hi 3")

    def test_falsy_values_are_values(self):
        self.assertEqual(task_func("[$greeting][$count]", {"greeting": "", "count": 0}), "[][0]")

    def test_missing_field(self):
        with self.assertRaises(KeyError):
            task_func("$greeting $nobody", {"name": "Ada"})
        with self.assertRaises(KeyError):
            task_func("$name", {"name": None})

    def test_stray_dollar_sign(self):
        with self.assertRaises(ValueError):
            task_func("costs $ 5", {})

    def test_defaults_and_fields_stay_as_they_were(self):
        fields = {"greeting": "Good day", "closing": None}
        task_func("$greeting", fields)
        self.assertEqual(fields, {"greeting": "Good day", "closing": None})
        self.assertEqual(task_func("$greeting", {}), "Hello")
