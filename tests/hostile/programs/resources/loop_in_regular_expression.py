"""Lets a regular expression backtrack for ever.

expect: OVER_LIMIT wall_time | OVER_LIMIT cpu_time
"""

import re


def task_func(values):
    return len(re.findall(r"(a+)+$", "a" * 64 + "b"))
