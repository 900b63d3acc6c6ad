import io
import unittest
from unittest import mock
from urllib.error import HTTPError, URLError


class Answer(io.BytesIO):
    status = 200


def refusal(code):
    return HTTPError("http://service.example", code, "refused", {}, io.BytesIO(b""))


class TestCases(unittest.TestCase):
    def fetch(self, *outcomes):
        with mock.patch("urllib.request.urlopen", side_effect=list(outcomes)) as self.urlopen:
            return task_func("http://service.example/state")

    def test_example(self):
        answer = Answer(b'{"ok": true}')
        with mock.patch("urllib.request.urlopen", return_value=answer):
            result = task_func("http://service.example/state")
        self.assertEqual(result, {"attempts": 1, "status": 200, "data": {"ok": True}})
        self.assertTrue(answer.closed)

    def test_request(self):
        self.fetch(Answer(b"{}"))
        (request,), options = self.urlopen.call_args
        self.assertEqual(request.full_url, "http://service.example/state")
        self.assertEqual(request.get_header("User-agent"), "starter-client/1.0")
        self.assertEqual(request.get_header("Accept"), "application/json")
        self.assertEqual(options, {"timeout": 5})

    def test_second_attempt(self):
        result = self.fetch(refusal(503), refusal(429), Answer('{"name": "é"}'.encode("utf-8")))
        self.assertEqual(result, {"attempts": 3, "status": 200, "data": {"name": "é"}})

    def test_attempts_are_limited(self):
        result = self.fetch(refusal(503), refusal(503), refusal(429), Answer(b"{}"))
        self.assertEqual(result, {"attempts": 3, "status": 429, "data": None})
        self.assertEqual(self.urlopen.call_count, 3)

    def test_other_errors_are_final(self):
        self.assertEqual(
            self.fetch(refusal(404), Answer(b"{}")), {"attempts": 1, "status": 404, "data": None}
        )

    def test_unreachable(self):
        with self.assertRaises(ConnectionError):
            self.fetch(URLError("no route"))

    def test_not_a_json_object(self):
        for body in (b"[1]", b"<html>", b""):
            with self.assertRaises(ValueError):
                self.fetch(Answer(body))
