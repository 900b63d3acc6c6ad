"""Raises an exception whose message holds a lone surrogate, control characters and markup.

expect: FAILED exception
"""


def task_func(values):
    raise ValueError("\udfff\x1b]0;title\x07 [/red] \0")
