"""Begins with an import from __future__ and uses names in annotations that do not exist.

expect: PASSED
"""

from __future__ import annotations


def task_func(values: Sequence[Number]) -> Number | None:
    total: Number = sum(value * value for value in values)
    return total
