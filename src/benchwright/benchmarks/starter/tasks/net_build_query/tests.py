import unittest


class TestCases(unittest.TestCase):
    def test_example(self):
        self.assertEqual(
            task_func("https://shop.example/find?q=tea+pot&utm_id=7#top", {"page": 2}),
            "https://shop.example/find?lang=en&page=2&q=tea+pot#top",
        )

    def test_defaults(self):
        self.assertEqual(task_func("http://a.example", {}), "http://a.example?lang=en&page=1")

    def test_address_has_precedence_over_defaults(self):
        self.assertEqual(task_func("http://a.example/?lang=de", {}), "http://a.example/?lang=de&page=1")

    def test_removal(self):
        self.assertEqual(
            task_func("http://a.example/?x=1&x=2&y=3", {"x": None, "lang": None, "page": None}),
            "http://a.example/?y=3",
        )

    def test_several_values(self):
        self.assertEqual(
            task_func("http://a.example/?z=2&z=1&b=", {"page": 0}),
            "http://a.example/?b=&lang=en&page=0&z=2&z=1",
        )
        self.assertEqual(
            task_func("http://a.example/?page=5&page=6", {"page": 7}), "http://a.example/?lang=en&page=7"
        )

    def test_special_characters(self):
        self.assertEqual(
            task_func("http://u@a.example:81/p%20q", {"q": "a&b=ü"}),
            "http://u@a.example:81/p%20q?lang=en&page=1&q=a%26b%3D%C3%BC",
        )

    def test_tracking_is_removed_from_changes_too(self):
        self.assertEqual(
            task_func("http://a.example/?utm_a=1&utm_b", {"utm_c": "2"}), "http://a.example/?lang=en&page=1"
        )

    def test_not_a_web_address(self):
        for url in ("", "shop.example/x", "ftp://a.example/", "https:///x", "mailto:a@b.example"):
            with self.assertRaises(ValueError):
                task_func(url, {})
