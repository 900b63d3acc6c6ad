"""Makes a sparse file of 1 TB, which takes no room, and returns right values.

expect: PASSED | FAILED exception
"""

def task_func(values):
    with open("sparse", "wb") as file:
        file.truncate(1 << 40)
    return sum(value * value for value in values)
