"""Patches a helper of its own with unittest.mock for a moment and asserts on the mock.

expect: PASSED
"""

from unittest import mock


def square(value):
    return value * value


def task_func(values):
    with mock.patch.dict(globals(), {"square": mock.MagicMock(side_effect=lambda value: value * value)}):
        total = sum(square(value) for value in values)
        assert square.call_count == len(values)
    return total
