"""Runs its own doctests, for which doctest replaces sys.stdout and a function of pdb for a while.

expect: PASSED
"""

import doctest


def square(value):
    """
    >>> square(3)
    9
    """
    return value * value


def task_func(values):
    doctest.run_docstring_examples(square, {"square": square}, name="square")
    return sum(map(square, values))
