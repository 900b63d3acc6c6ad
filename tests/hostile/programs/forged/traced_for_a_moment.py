"""Traces its own helper with sys.settrace and restores what was set before: tracing can skip a test's lines, so it counts as interference.

expect: FAILED tampered
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
