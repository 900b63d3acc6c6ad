"""Looks for inherited descriptors of folders, devices and files open for writing; right values only if there is none.

expect: PASSED
"""

import fcntl
import os
import stat

REACHED = False
for number in range(3, 1024):
    try:
        status = os.fstat(number)
        mode = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE
        target = os.readlink("/proc/self/fd/%d" % number)
    except OSError:
        continue
    if stat.S_ISDIR(status.st_mode) or stat.S_ISBLK(status.st_mode):
        REACHED = True
    elif stat.S_ISREG(status.st_mode) and mode != os.O_RDONLY and not target.startswith(("/memfd:", os.getcwd(), "/tmp/")):
        REACHED = True


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
