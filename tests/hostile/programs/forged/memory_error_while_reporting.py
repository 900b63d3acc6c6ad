"""Leaves so little memory that a failure cannot be recorded.

expect: FAILED | OVER_LIMIT memory
"""

import resource


def task_func(values):
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    try:
        resource.setrlimit(resource.RLIMIT_AS, (now, now))
    except (OSError, ValueError):
        pass
    return -1
