"""Leaves folders without any permission, with files inside, and returns right values.

expect: PASSED
"""

import os

for place in ("locked", "/tmp/locked"):
    os.mkdir(place)
    with open(os.path.join(place, "inside"), "w") as file:
        file.write("x")
    os.chmod(place, 0)
try:
    os.chmod(".", 0)
except OSError:
    pass  # the working directory may belong to somebody else


def task_func(values):
    return sum(value * value for value in values)
