"""Waits for input that never comes.

expect: FAILED exception
"""

def task_func(values):
    input("Continue? ")
    return sum(value * value for value in values)
