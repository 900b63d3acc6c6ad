"""Defines the entry point and deletes it again.

expect: UNUSABLE entry_point_missing
"""

def task_func(values):
    return sum(value * value for value in values)


del task_func
