import json as reader
import unittest


class TestCases(unittest.TestCase):
    def records(self, text):
        result = task_func(text)
        self.assertTrue(result == "" or result.endswith("\n"))
        return [reader.loads(line) for line in result.splitlines()]

    def test_example(self):
        self.assertEqual(
            task_func("name;age;member\nAda;36;yes\n"), '{"name": "Ada", "age": 36, "member": true}\n'
        )

    def test_kinds_of_values(self):
        text = "a,b,c,d,e,f\n-7,2.50,NO,,True,x y\n"
        self.assertEqual(
            self.records(text), [{"a": -7, "b": 2.5, "c": False, "d": None, "e": True, "f": "x y"}]
        )

    def test_numbers_that_stay_text(self):
        self.assertEqual(self.records("zip,n,i\n01234,nan,inf\n"), [{"zip": "01234", "n": "nan", "i": "inf"}])
        self.assertEqual(self.records("zip,n\n05,-inf\n"), [{"zip": "05", "n": "-inf"}])

    def test_zero(self):
        self.assertEqual(self.records("a,b\n0,0.5\n"), [{"a": 0, "b": 0.5}])

    def test_separator_is_chosen_by_the_heading(self):
        self.assertEqual(self.records("a;b\n1,5;2\n"), [{"a": "1,5", "b": 2}])
        self.assertEqual(self.records("a,b\n1;5,2\n"), [{"a": "1;5", "b": 2}])
        self.assertEqual(self.records("a;b,c\n1;5,2\n"), [{"a;b": "1;5", "c": 2}])

    def test_quotes_and_white_space(self):
        self.assertEqual(
            self.records('a , b\n"x, y", 3 \n no ,  x y \n'),
            [{"a": "x, y", "b": 3}, {"a": False, "b": "x y"}],
        )

    def test_only_a_heading(self):
        self.assertEqual(task_func("a,b\n"), "")

    def test_bad_text(self):
        for text in ("", "\n1,2\n", "  \n1\n", "a,b\n1\n", "a,b\n1,2,3\n"):
            with self.assertRaises(ValueError):
                task_func(text)
