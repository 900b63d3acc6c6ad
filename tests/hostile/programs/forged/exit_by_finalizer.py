"""Leaves through weakref.finalize and a __del__ at interpreter shutdown.

expect: FAILED assertion
"""

import os
import sys
import weakref


class Last:
    def __del__(self):
        os._exit(0)


sys.last_thing = Last()
weakref.finalize(sys.last_thing, os._exit, 0)


def task_func(values):
    return -1
