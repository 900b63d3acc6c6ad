"""Returns instances of int and float subclasses that compare as numbers do.

expect: PASSED
"""

class Count(int):
    def __repr__(self):
        return "Count(%d)" % int(self)


class Measure(float):
    unit = "m2"


def task_func(values):
    total = sum(value * value for value in values)
    return Measure(total) if isinstance(total, float) else Count(total)
