"""Raises its own and its parent's limits; right values only if all refuse.

expect: PASSED
"""

import os
import resource

REACHED = False
for name in ("AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "STACK", "NICE", "RTPRIO", "MSGQUEUE"):
    kind = getattr(resource, "RLIMIT_" + name)
    soft, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        for higher in (hard + 1, resource.RLIM_INFINITY):
            try:
                resource.setrlimit(kind, (soft, higher))
                REACHED = True
            except (OSError, ValueError):
                pass
    if os.getppid() > 0:
        try:
            resource.prlimit(os.getppid(), kind, resource.prlimit(os.getppid(), kind))
            REACHED = True
        except (OSError, ValueError):
            pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
