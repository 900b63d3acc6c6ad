"""Forks, ends the process that is watched with status 0 and goes on in the child.

expect: FAILED
"""

import os

if os.fork():
    os._exit(0)


def task_func(values):
    return -1
