"""Defines the right function under another name.

expect: UNUSABLE entry_point_missing
"""

def sum_of_squares(values):
    return sum(value * value for value in values)
