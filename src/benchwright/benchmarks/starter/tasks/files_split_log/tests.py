import os
import tempfile
import unittest


class TestCases(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.log = os.path.join(self.folder.name, "app.log")
        self.output = os.path.join(self.folder.name, "levels", "deep")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, text):
        with open(self.log, "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.output, name), encoding="utf-8") as file:
            return file.read()

    def test_example(self):
        with open("example.log", "w") as log:
            log.write("2024-05-01 10:00 [INFO] up\n")
        self.assertEqual(task_func("example.log", "example_levels"), {"INFO": 1})
        with open(os.path.join("example_levels", "info.log")) as file:
            self.assertEqual(file.read(), "2024-05-01 10:00 [INFO] up\n")

    def test_lines_are_distributed(self):
        self.write("d t [ERROR] one\nd t [INFO] two é\nd t [ERROR] three\n")
        result = task_func(self.log, self.output)
        self.assertEqual(list(result.items()), [("INFO", 1), ("ERROR", 2)])
        self.assertEqual(self.read("error.log"), "d t [ERROR] one\nd t [ERROR] three\n")
        self.assertEqual(self.read("info.log"), "d t [INFO] two é\n")
        self.assertEqual(sorted(os.listdir(self.output)), ["error.log", "info.log"])

    def test_continuation_lines(self):
        self.write("d t [ERROR] bad\n  at x\n\n  at y\nd t [DEBUG] ok\n")
        self.assertEqual(task_func(self.log, self.output), {"DEBUG": 1, "ERROR": 1})
        self.assertEqual(self.read("error.log"), "d t [ERROR] bad\n  at x\n\n  at y\n")

    def test_unknown_level_continues(self):
        self.write("d t [INFO] a\nd t [NOISE] b\n")
        self.assertEqual(task_func(self.log, self.output), {"INFO": 1})
        self.assertEqual(self.read("info.log"), "d t [INFO] a\nd t [NOISE] b\n")

    def test_lines_ahead_of_the_first_entry(self):
        self.write("banner\nd t [WARNING] w")
        self.assertEqual(task_func(self.log, self.output), {"WARNING": 1})
        self.assertEqual(self.read("warning.log"), "d t [WARNING] w")

    def test_old_files_are_replaced(self):
        self.write("d t [INFO] a\n")
        task_func(self.log, self.output)
        task_func(self.log, self.output)
        self.assertEqual(self.read("info.log"), "d t [INFO] a\n")

    def test_nothing_to_distribute(self):
        self.write("")
        self.assertEqual(task_func(self.log, self.output), {})
        self.assertEqual(os.listdir(self.output), [])

    def test_missing_file(self):
        with self.assertRaises(FileNotFoundError):
            task_func(os.path.join(self.folder.name, "none.log"), self.output)
