import os
import tempfile
import unittest

# SHA-256 of b"alpha" and of no bytes at all.
ALPHA = "8ed3f6ad685b959ead7022518e1af76cd816f8e8ec7ccdda1ed4018e8f2223f8"
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


class TestCases(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, name, content):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(content)

    def test_example(self):
        os.makedirs("parcel", exist_ok=True)
        with open(os.path.join("parcel", "SHA256SUMS"), "w") as file:
            file.write("00ff  gone.txt")
        self.assertEqual(task_func("parcel"), {"gone.txt": "missing"})

    def test_ok_and_changed(self):
        self.write("a.txt", "alpha")
        self.write("b.txt", "beta")
        self.write("SHA256SUMS", f"{ALPHA}  a.txt\n\n   \n{EMPTY}  b.txt\n")
        self.assertEqual(task_func(self.folder), {"a.txt": "ok", "b.txt": "changed"})

    def test_extra_file_and_order(self):
        self.write("z.txt", "")
        self.write("m.txt", "x")
        self.write("SHA256SUMS", f"{EMPTY} z.txt\n{ALPHA} b.txt\n")
        self.assertEqual(
            list(task_func(self.folder).items()), [("b.txt", "missing"), ("m.txt", "extra"), ("z.txt", "ok")]
        )

    def test_upper_case_digest(self):
        self.write("a.txt", "alpha")
        self.write("SHA256SUMS", f"{ALPHA.upper()}  a.txt")
        self.assertEqual(task_func(self.folder), {"a.txt": "ok"})

    def test_name_with_spaces(self):
        self.write("my file.txt", "alpha")
        self.write("SHA256SUMS", f"{ALPHA}  my file.txt\n")
        self.assertEqual(task_func(self.folder), {"my file.txt": "ok"})

    def test_folders_are_not_reported(self):
        os.mkdir(os.path.join(self.folder, "inner"))
        self.write("SHA256SUMS", "")
        self.assertEqual(task_func(self.folder), {})

    def test_bad_manifest(self):
        with self.assertRaises(FileNotFoundError):
            task_func(self.folder)
        self.write("SHA256SUMS", "lonely\n")
        with self.assertRaises(ValueError):
            task_func(self.folder)
