import os
import tempfile
import unittest


class TestCases(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def layer(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_example(self):
        settings = task_func(["no_such_settings.json"])
        self.assertEqual(settings["editor"], {"tabs": 4, "wrap": True})
        self.assertEqual(settings, task_func([]))

    def test_objects_are_combined(self):
        path = self.layer("a.json", '{"editor": {"tabs": 2, "ruler": 80}}')
        self.assertEqual(task_func([path])["editor"], {"tabs": 2, "wrap": True, "ruler": 80})

    def test_later_file_wins(self):
        one = self.layer("1.json", '{"theme": "dark", "plugins": ["git"], "x": {"y": {"z": 1, "w": 2}}}')
        two = self.layer("2.json", '{"theme": "blue", "x": {"y": {"z": 3}}}')
        settings = task_func([one, two])
        self.assertEqual(settings["theme"], "blue")
        self.assertEqual(settings["plugins"], ["git"])
        self.assertEqual(settings["x"], {"y": {"z": 3, "w": 2}})

    def test_null_removes(self):
        path = self.layer(
            "a.json", '{"theme": null, "absent": null, "editor": {"wrap": null}, "n": {"m": null}}'
        )
        self.assertEqual(task_func([path]), {"editor": {"tabs": 4}, "plugins": ["spell"], "n": {}})

    def test_kind_of_value_may_change(self):
        path = self.layer("a.json", '{"editor": false, "theme": {"name": "dark"}}')
        self.assertEqual(
            task_func([path]), {"theme": {"name": "dark"}, "editor": False, "plugins": ["spell"]}
        )

    def test_defaults_are_never_changed(self):
        path = self.layer("a.json", '{"editor": {"tabs": 8}, "plugins": []}')
        task_func([path])["plugins"].append("junk")
        task_func([])["plugins"].append("junk")
        self.assertEqual(
            task_func([]), {"theme": "light", "editor": {"tabs": 4, "wrap": True}, "plugins": ["spell"]}
        )

    def test_bad_file(self):
        for text in ("[1, 2]", "{oops", '"text"'):
            with self.assertRaises(ValueError):
                task_func([self.layer("bad.json", text)])
