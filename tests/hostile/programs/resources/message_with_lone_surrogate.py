"""Raises an exception whose message and class name hold lone surrogates.

expect: FAILED exception
"""

Odd = type("Odd\ud800", (Exception,), {})


def task_func(values):
    raise Odd("\udfff\x1b]0;title\x07 [/red] \0")
