"""Fills the kernel's buffers of a thousand pipes and returns right values; whatever is held dies with it.

expect: PASSED | FAILED exception | OVER_LIMIT memory
"""

import os

HELD = []


def task_func(values):
    while len(HELD) < 1000:
        try:
            source, sink = os.pipe()
        except OSError:
            break
        HELD.append((source, sink))
        os.set_blocking(sink, False)
        try:
            while os.write(sink, b"x" * 65536):
                pass
        except BlockingIOError:
            pass
    return sum(value * value for value in values)
