"""Returns a member of an IntEnum where the value has one, as http.HTTPStatus does.

expect: PASSED
"""

import enum


class Known(enum.IntEnum):
    NOTHING = 0
    UNIT = 1
    FOURTEEN = 14


def task_func(values):
    total = sum(value * value for value in values)
    try:
        return Known(total) if isinstance(total, int) else total
    except ValueError:
        return total
