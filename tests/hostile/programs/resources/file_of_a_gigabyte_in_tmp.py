"""Writes 1 GB into /tmp, in files of 8 MB, and lets the refusal show.

expect: FAILED exception | OVER_LIMIT memory
"""

BLOCK = b"x" * (8 << 20)


def task_func(values):
    for number in range(128):
        with open("/tmp/large%d" % number, "wb") as file:
            file.write(BLOCK)
    return sum(value * value for value in values)
