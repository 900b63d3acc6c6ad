import sys
import unittest
from unittest import mock


class TestCases(unittest.TestCase):
    def test_example(self):
        result = task_func([sys.executable, "-c", "print('a'); print('b')"])
        self.assertEqual(result["lines"], ["a", "b"])
        self.assertEqual((result["code"], result["errors"]), (0, ""))

    def test_time_is_measured(self):
        seconds = task_func([sys.executable, "-c", "pass"])["seconds"]
        self.assertIs(type(seconds), float)
        self.assertTrue(0 < seconds < 20)

    def test_exit_code_and_errors(self):
        result = task_func([sys.executable, "-c", "import sys; print(' bad ', file=sys.stderr); sys.exit(3)"])
        self.assertEqual((result["code"], result["lines"], result["errors"]), (3, [], "bad"))

    def test_standard_input(self):
        program = "import sys; print(sys.stdin.read().upper())"
        self.assertEqual(task_func([sys.executable, "-c", program], "hey")["lines"], ["HEY"])

    def test_no_shell(self):
        program = "import sys; print(sys.argv[1])"
        self.assertEqual(task_func([sys.executable, "-c", program, "$HOME; x"])["lines"], ["$HOME; x"])

    def test_timeout(self):
        program = "import time; print('early', flush=True); time.sleep(4)"
        with mock.patch.dict(task_func.__globals__, {"TIMEOUT_SECONDS": 0.3}):
            result = task_func([sys.executable, "-c", program])
        self.assertEqual((result["code"], result["lines"], result["errors"]), (124, [], ""))
        self.assertLess(result["seconds"], 3)

    def test_bad_command(self):
        with self.assertRaises(ValueError):
            task_func([])
        with self.assertRaises(FileNotFoundError):
            task_func(["./no-such-program-here"])
