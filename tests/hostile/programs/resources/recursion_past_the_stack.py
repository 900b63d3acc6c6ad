"""Lifts the recursion limit and recurses through C until the stack is gone.

expect: FAILED crashed | FAILED exception | OVER_LIMIT memory
"""

import sys


class Deep:
    def __repr__(self):
        return repr([self, Deep()])


def task_func(values):
    sys.setrecursionlimit(2**31 - 1)
    return len(repr(Deep()))
