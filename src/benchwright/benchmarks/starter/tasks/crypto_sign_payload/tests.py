import unittest
from hashlib import sha256


def expected_signature(key, message):
    # The definition of HMAC for keys of at most 64 bytes, written out so that the test is independent.
    block = key.ljust(64, b"\0")
    inner = sha256(bytes(byte ^ 0x36 for byte in block) + message).digest()
    return sha256(bytes(byte ^ 0x5C for byte in block) + inner).hexdigest()


class TestCases(unittest.TestCase):
    def test_example(self):
        signature = task_func({"b": 1, "a": "x"}, b"secret")["signature"]
        self.assertEqual(signature, expected_signature(b"secret", b'{"a":"x","b":1}'))

    def test_payload_is_kept(self):
        result = task_func({"n": 1, "list": [1, 2]}, b"k")
        self.assertEqual(result.pop("signature"), expected_signature(b"k", b'{"list":[1,2],"n":1}'))
        self.assertEqual(result, {"n": 1, "list": [1, 2]})

    def test_order_of_keys_does_not_matter(self):
        one = task_func({"x": {"p": 1, "q": 2}, "y": 0}, b"k")
        two = task_func({"y": 0, "x": {"q": 2, "p": 1}}, b"k")
        self.assertEqual(one["signature"], two["signature"])

    def test_old_signature_is_replaced(self):
        once = task_func({"a": 1}, b"k")
        self.assertEqual(task_func(once, b"k"), once)
        self.assertEqual(task_func({"a": 1, "signature": "forged"}, b"k"), once)

    def test_characters_outside_ascii(self):
        message = '{"name":"Zoë"}'.encode("utf-8")
        self.assertEqual(task_func({"name": "Zoë"}, b"k")["signature"], expected_signature(b"k", message))

    def test_input_is_not_changed(self):
        payload = {"a": 1}
        task_func(payload, b"k")
        self.assertEqual(payload, {"a": 1})

    def test_bad_arguments(self):
        with self.assertRaises(ValueError):
            task_func({"a": 1}, b"")
        with self.assertRaises(TypeError):
            task_func({"a": {1, 2}}, b"k")
