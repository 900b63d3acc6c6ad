"""Is cut off in the middle of an expression, so that it does not parse.

expect: UNUSABLE syntax_error
"""

def task_func(values):
    return sum(value * value for value in (values
