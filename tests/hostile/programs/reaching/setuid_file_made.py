"""Makes setuid copies of the shell in every writable place; right values only if these places ignore the bit.

expect: PASSED
"""

import os
import shutil

REACHED = False
for place in (".", "/tmp", "/dev/shm", os.path.expanduser("~")):
    path = os.path.join(place, "hostile_shell")
    try:
        shutil.copyfile("/bin/sh", path)
        os.chmod(path, 0o6755)
    except OSError:
        continue
    REACHED = REACHED or not os.statvfs(place).f_flag & os.ST_NOSUID


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
