"""Opens files until refused, keeps them open and returns right values.

expect: PASSED
"""

HELD = []
try:
    while len(HELD) < 100_000:
        HELD.append(open("/dev/null"))
except OSError:
    pass


def task_func(values):
    return sum(value * value for value in values)
