"""Asks for real-time scheduling, negative niceness and protection from the OOM killer; right values only if all refuse.

expect: PASSED
"""

import os

REACHED = False


def protect():
    with open("/proc/self/oom_score_adj") as file:
        now = int(file.read())
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write(str(max(now - 500, -1000)))


for attempt in (
    lambda: os.nice(-5),
    lambda: os.setpriority(os.PRIO_PROCESS, 0, -10),
    lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1)),
    protect,
):
    try:
        attempt()
        REACHED = True
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
