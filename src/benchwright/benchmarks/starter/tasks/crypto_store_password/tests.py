import unittest
from hashlib import pbkdf2_hmac


class TestCases(unittest.TestCase):
    def derive(self, password, salt):
        return pbkdf2_hmac("sha256", password.encode("utf-8"), salt, 1200).hex()

    def test_example(self):
        stored = task_func("open sesame", b"saltsalt")
        self.assertEqual(stored, "pbkdf2$1200$73616c7473616c74$" + self.derive("open sesame", b"saltsalt"))

    def test_fresh_salt(self):
        word, rounds, salt, key = task_func("hunter2").split("$")
        self.assertEqual((word, rounds, len(salt)), ("pbkdf2", "1200", 32))
        self.assertEqual(key, self.derive("hunter2", bytes.fromhex(salt)))

    def test_salts_differ(self):
        self.assertEqual(len({task_func("hunter2") for _ in range(5)}), 5)

    def test_same_salt_gives_same_text(self):
        self.assertEqual(task_func("pw", b"12345678"), task_func("pw", b"12345678"))
        self.assertNotEqual(task_func("pw", b"12345678"), task_func("pv", b"12345678"))

    def test_password_outside_ascii(self):
        self.assertTrue(task_func("pässword", b"12345678").endswith(self.derive("pässword", b"12345678")))

    def test_empty_password(self):
        with self.assertRaises(ValueError):
            task_func("", b"12345678")

    def test_short_salt(self):
        for salt in (b"", b"1234567"):
            with self.assertRaises(ValueError):
                task_func("pw", salt)
