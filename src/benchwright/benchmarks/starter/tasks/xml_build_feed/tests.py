import unittest
from datetime import date
from xml.etree import ElementTree


class TestCases(unittest.TestCase):
    def headlines(self, entries):
        return [node.text for node in ElementTree.fromstring(task_func("T", entries)).iter("headline")]

    def test_example(self):
        self.assertEqual(
            task_func("News", [{"headline": "Rain", "date": date(2024, 5, 1)}]),
            '<feed version="1.1"><title>News</title>'
            '<entry date="2024-05-01"><headline>Rain</headline></entry></feed>',
        )

    def test_no_entries(self):
        self.assertEqual(task_func("T", []), '<feed version="1.1"><title>T</title></feed>')

    def test_newest_first_and_stable(self):
        entries = [
            {"headline": "old", "date": date(2023, 1, 1)},
            {"headline": "one", "date": date(2024, 1, 1)},
            {"headline": "two", "date": date(2024, 1, 1)},
        ]
        self.assertEqual(self.headlines(entries), ["one", "two", "old"])

    def test_at_most_five(self):
        entries = [{"headline": str(day), "date": date(2024, 1, day)} for day in range(1, 9)]
        self.assertEqual(self.headlines(entries), ["8", "7", "6", "5", "4"])

    def test_tags(self):
        text = task_func("T", [{"headline": "h", "date": date(2024, 1, 2), "tags": ["sun", "air"]}])
        self.assertIn("<headline>h</headline><tag>air</tag><tag>sun</tag></entry>", text)

    def test_special_characters(self):
        root = ElementTree.fromstring(task_func("A & <B>", [{"headline": "ü < ö", "date": date(2024, 1, 2)}]))
        self.assertEqual(root.findtext("title"), "A & <B>")
        self.assertEqual(root.findtext("entry/headline"), "ü < ö")

    def test_bad_arguments(self):
        with self.assertRaises(ValueError):
            task_func("  ", [])
        with self.assertRaises(TypeError):
            task_func("T", [{"headline": "h", "date": "2024-01-02"}])
