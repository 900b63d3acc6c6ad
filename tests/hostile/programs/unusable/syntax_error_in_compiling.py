"""Parses, but does not compile: a return statement stands outside any function.

expect: UNUSABLE syntax_error
"""

def task_func(values):
    return sum(value * value for value in values)


return task_func
