"""Looks at its caller's name by inspect.stack and traceback, as helpers for logging do.

expect: PASSED
"""

import inspect
import traceback


def caller():
    return inspect.stack()[2].function, traceback.extract_stack()[-3].name, inspect.currentframe().f_back.f_code.co_name


def task_func(values):
    print("called from", caller())
    traceback.print_stack()
    return sum(value * value for value in values)
