"""Hides the entry point inside another function that is never called.

expect: UNUSABLE entry_point_missing
"""

def solution():
    def task_func(values):
        return sum(value * value for value in values)

    return task_func
