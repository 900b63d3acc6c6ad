"""Writes 1 GB into one file and lets the refusal show.

expect: FAILED exception | OVER_LIMIT memory
"""

BLOCK = b"x" * (1 << 20)


def task_func(values):
    with open("large", "wb") as file:
        for _ in range(1024):
            file.write(BLOCK)
    return sum(value * value for value in values)
