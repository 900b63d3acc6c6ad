"""Ends with a demonstration that prints, without a guard.

expect: PASSED
"""

def task_func(values):
    return sum(value * value for value in values)


result = task_func([1, 2, 3])
print("Result:", result)
assert result == 14
