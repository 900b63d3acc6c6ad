"""Returns True for 1 and False for 0, which are integers.

expect: PASSED
"""

def task_func(values):
    total = sum(value * value for value in values)
    return bool(total) if isinstance(total, int) and total in (0, 1) else total
