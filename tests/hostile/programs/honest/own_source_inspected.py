"""Asks for its own source, code and closure, and copes when there is none.

expect: PASSED
"""

import dis
import inspect
import io


def task_func(values):
    try:
        inspect.getsource(task_func)
    except OSError:
        pass
    dis.dis(task_func, file=io.StringIO())
    assert task_func.__code__.co_argcount == 1
    return sum(value * value for value in values)
