import socket
import unittest


class TestCases(unittest.TestCase):
    def setUp(self):
        self.ours, self.theirs = socket.socketpair()
        self.ours.settimeout(5)

    def tearDown(self):
        self.ours.close()
        self.theirs.close()

    def receive(self, data):
        self.theirs.sendall(data)
        self.theirs.close()
        return task_func(self.ours)

    def test_example(self):
        ours, theirs = socket.socketpair()
        theirs.sendall(b'{"n": 1}\n[2]\n')
        theirs.close()
        self.assertEqual(task_func(ours), [{"n": 1}, [2]])

    def test_long_message_and_split_characters(self):
        text = "é" * 40
        self.assertEqual(self.receive(f'1\n"x{text}"\n"{text}"\n'.encode("utf-8")), [1, "x" + text, text])

    def test_blank_lines(self):
        self.assertEqual(self.receive(b"\n  \nnull\n\n"), [None])

    def test_longest_message(self):
        self.assertEqual(self.receive(b'"' + b"a" * 198 + b'"\n'), ["a" * 198])

    def test_message_that_is_too_long(self):
        with self.assertRaises(ValueError):
            self.receive(b'"' + b"a" * 199 + b'"\n')

    def test_not_json(self):
        with self.assertRaises(ValueError):
            self.receive(b"1\noops\n")
        self.assertEqual(self.ours.fileno(), -1)

    def test_closed_within_a_line(self):
        with self.assertRaises(EOFError):
            self.receive(b"1\n[2,")

    def test_socket_is_closed(self):
        self.assertEqual(self.receive(b""), [])
        self.assertEqual(self.ours.fileno(), -1)
