"""Makes device nodes of disks, memory and terminals; right values only if all refuse or the nodes are dead.

expect: PASSED
"""

import os
import stat

REACHED = False
for number, (kind, major, minor) in enumerate(
    ((stat.S_IFBLK, 8, 0), (stat.S_IFBLK, 259, 0), (stat.S_IFBLK, 254, 0), (stat.S_IFCHR, 1, 1), (stat.S_IFCHR, 1, 11), (stat.S_IFCHR, 5, 0))
):
    for place in (".", "/tmp", "/dev/shm", "/dev"):
        path = os.path.join(place, "hostile%d" % number)
        try:
            os.mknod(path, kind | 0o666, os.makedev(major, minor))
            REACHED = True
        except OSError:
            pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
