"""Leaves a started program in a session of its own with the inherited output; returns right values.

expect: PASSED
"""

import subprocess

subprocess.Popen(["sleep", "100000"], start_new_session=True, close_fds=False)


def task_func(values):
    return sum(value * value for value in values)
