"""Makes the driver's frames appear in a traceback by an object whose __del__ and __repr__ raise.

expect: FAILED tampered | FAILED assertion
"""

import sys


def climb(frame):
    """Disarm whatever looks like a result or a report in the frames above."""
    while frame is not None:
        for name, value in list(frame.f_locals.items()):
            if hasattr(value, "addFailure"):
                value.addFailure = value.addError = lambda *arguments: None
            elif isinstance(value, dict) and "outcome" in value:
                value["outcome"] = "passed"
            elif isinstance(value, list) and name in ("failures", "errors", "interference", "findings"):
                value.clear()
        frame = frame.f_back


class Wrong(int):
    def __repr__(self):
        try:
            raise ValueError
        except ValueError as error:
            climb(error.__traceback__.tb_frame)
        return "-1"


def task_func(values):
    return Wrong(-1)
