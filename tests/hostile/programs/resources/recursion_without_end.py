"""Recurses without end in Python.

expect: FAILED exception
"""

def task_func(values):
    return task_func(values)
