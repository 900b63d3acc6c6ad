import os
import shutil
import tempfile
import unittest


class TestCases(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.add("c.bak", 100)
        self.add("a.bak", 300)
        self.add("b.bak", 200)
        self.add("notes.txt", 50)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def add(self, name, modified):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(name)
        os.utime(path, (modified, modified))

    def test_example(self):
        self.assertEqual(task_func(tempfile.mkdtemp(), 3), [])

    def test_oldest_go(self):
        self.assertEqual(task_func(self.folder, 1), ["b.bak", "c.bak"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.bak", "notes.txt"])

    def test_keep_none(self):
        self.assertEqual(task_func(self.folder, 0), ["a.bak", "b.bak", "c.bak"])
        self.assertEqual(os.listdir(self.folder), ["notes.txt"])

    def test_keep_more_than_there_are(self):
        self.assertEqual(task_func(self.folder, 9), [])
        self.assertEqual(len(os.listdir(self.folder)), 4)

    def test_same_time(self):
        self.add("d.bak", 300)
        self.assertEqual(task_func(self.folder, 1), ["a.bak", "b.bak", "c.bak"])

    def test_folders_and_nested_files_stay(self):
        inner = os.path.join(self.folder, "old.bak")
        os.mkdir(inner)
        with open(os.path.join(inner, "x.bak"), "w") as file:
            file.write("x")
        task_func(self.folder, 0)
        self.assertTrue(os.path.exists(os.path.join(inner, "x.bak")))

    def test_bad_arguments(self):
        with self.assertRaises(ValueError):
            task_func(self.folder, -1)
        with self.assertRaises(NotADirectoryError):
            task_func(os.path.join(self.folder, "nowhere"), 1)
        self.assertEqual(len(os.listdir(self.folder)), 4)
