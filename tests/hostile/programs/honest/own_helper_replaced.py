"""Replaces a helper of its own after its definition, and a method of its own class.

expect: PASSED
"""

def square(value):
    raise NotImplementedError


class Machine:
    def run(self, value):
        raise NotImplementedError


def task_func(values):
    return sum(Machine().run(value) for value in values)


square = lambda value: value * value
Machine.run = lambda self, value: square(value)
globals()["unused"] = None
