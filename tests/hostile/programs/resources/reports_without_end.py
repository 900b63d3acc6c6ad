"""Adds a failing class cleanup that adds itself again, so that the driver reports failed fixtures for ever.

expect: FAILED | OVER_LIMIT
"""


def again():
    TestCases.addClassCleanup(again)
    raise ValueError("x" * 1900)


def task_func(values):
    if not values:
        TestCases.addClassCleanup(again)
    return sum(value * value for value in values)
