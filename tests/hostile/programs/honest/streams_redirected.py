"""Redirects standard output for a while, by contextlib and by hand.

expect: PASSED
"""

import contextlib
import io
import sys


def task_func(values):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        print(values)
    before, sys.stdout = sys.stdout, io.StringIO()
    try:
        print(values)
    finally:
        sys.stdout = before
    return sum(value * value for value in values)
