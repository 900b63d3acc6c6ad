"""Lists its own process under /proc and by os, as answers about the system do.

expect: PASSED
"""

import os


def task_func(values):
    assert str(os.getpid()) in os.listdir("/proc")
    with open("/proc/self/status") as file:
        assert "VmRSS" in file.read()
    assert os.cpu_count() and os.uname().sysname == "Linux" and len(os.sched_getaffinity(0)) > 0
    return sum(value * value for value in values)
