"""Asserts, raises and catches AssertionError, KeyboardInterrupt and SystemExit of its own.

expect: PASSED
"""

import sys


def check(condition):
    assert condition, "not so"


def task_func(values):
    for action in (lambda: check(False), lambda: sys.exit(1)):
        try:
            action()
        except (AssertionError, SystemExit):
            pass
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    check(values is not None) if isinstance(values, list) else None
    return sum(value * value for value in values)
