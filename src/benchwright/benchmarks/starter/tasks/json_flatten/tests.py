import unittest


class TestCases(unittest.TestCase):
    def test_example(self):
        self.assertEqual(
            task_func('{"a": {"b": 1}, "c": [true, null]}'), {"a.b": 1, "c.0": True, "c.1": None}
        )

    def test_separator(self):
        self.assertEqual(task_func("[[1], {}]", "/"), {"0/0": 1, "1": {}})

    def test_empty_containers(self):
        self.assertEqual(task_func('{"x": [], "y": {"z": {}}}'), {"x": [], "y.z": {}})

    def test_single_value(self):
        self.assertEqual(task_func("3.5"), {"": 3.5})
        self.assertEqual(task_func("[]"), {"": []})

    def test_order_is_kept(self):
        self.assertEqual(list(task_func('{"b": 1, "a": {"d": 2, "c": 3}}')), ["b", "a.d", "a.c"])

    def test_falsy_values_stay(self):
        self.assertEqual(task_func('{"a": 0, "b": "", "c": false}'), {"a": 0, "b": "", "c": False})

    def test_same_key_twice(self):
        with self.assertRaises(ValueError):
            task_func('{"a.b": 1, "a": {"b": 2}}')

    def test_not_json(self):
        for document in ("", "{'a': 1}", '{"a": 1'):
            with self.assertRaises(ValueError):
                task_func(document)
