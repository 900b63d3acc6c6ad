"""Traces its own helper with sys.settrace and restores what was set before.

expect: PASSED
"""

import sys

LINES = []


def trace(frame, event, argument):
    LINES.append(frame.f_lineno)
    return trace


def work(values):
    total = 0
    for value in values:
        total += value * value
    return total


def task_func(values):
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return work(values)
    finally:
        sys.settrace(before)
