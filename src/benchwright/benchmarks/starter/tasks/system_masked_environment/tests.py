import unittest
from unittest import mock


class TestCases(unittest.TestCase):
    def with_environment(self, variables, *arguments):
        with mock.patch.dict("os.environ", variables, clear=True):
            return task_func(*arguments)

    def test_example(self):
        with mock.patch.dict("os.environ", {"DEMO_TOKEN": "abc"}):
            self.assertEqual(task_func("DEMO_")["variables"], {"DEMO_TOKEN": "***"})

    def test_order_and_prefix(self):
        result = self.with_environment({"APP_Z": "1", "APP_A": "2", "MY_APP_": "3"}, "APP_")
        self.assertEqual(list(result["variables"].items()), [("APP_A", "2"), ("APP_Z", "1")])

    def test_all_variables(self):
        self.assertEqual(self.with_environment({"B": "1", "A": "2"})["variables"], {"A": "2", "B": "1"})

    def test_secret_words_in_any_case(self):
        variables = {"my_password_file": "p", "ApiKey": "k", "EMPTY_SECRET": "", "SAFE": "s"}
        self.assertEqual(
            self.with_environment(variables)["variables"],
            {"ApiKey": "***", "EMPTY_SECRET": "", "SAFE": "s", "my_password_file": "***"},
        )

    def test_broken_path(self):
        result = self.with_environment({"PATH": "/no/such/b:.::/no/such/a"}, "NOTHING")
        self.assertEqual(result["broken_path"], ["/no/such/b", "/no/such/a"])
        self.assertEqual(result["variables"], {})

    def test_no_path(self):
        self.assertEqual(self.with_environment({"A": "1"})["broken_path"], [])

    def test_system(self):
        with mock.patch("platform.system", return_value="Plan9"):
            self.assertEqual(task_func("NOTHING_")["system"], "Plan9")
