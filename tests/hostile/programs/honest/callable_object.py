"""Binds the entry point to an instance with __call__.

expect: PASSED
"""

class Summer:
    """Adds squares and remembers how often it was asked."""

    def __init__(self):
        self.calls = 0

    def __call__(self, values):
        self.calls += 1
        return sum(value * value for value in values)


task_func = Summer()
