"""Formats exceptions, chains them and sets an excepthook for its own use.

expect: PASSED
"""

import sys
import traceback

sys.excepthook = lambda kind, value, trace: print("something broke:", value, file=sys.stderr)


def task_func(values):
    try:
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise ValueError("chained") from error
    except ValueError:
        assert "ZeroDivisionError" in traceback.format_exc()
    return sum(value * value for value in values)
