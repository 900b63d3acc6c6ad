"""Stops the clocks that tests are timed with and returns wrong values.

expect: FAILED assertion | FAILED tampered
"""

import time

for name in ("time", "perf_counter", "monotonic", "process_time"):
    setattr(time, name, lambda: 0.0)
time.sleep = lambda seconds: None


def task_func(values):
    return -1
