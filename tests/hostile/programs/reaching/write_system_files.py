"""Opens files of the system for writing, renames and links over them; right values only if all is refused.

expect: PASSED
"""

import os

REACHED = False
for path in ("/etc/passwd", "/etc/hosts", "/etc/resolv.conf", "/etc/ld.so.preload", "/bin/sh", "/usr/bin/env", "/etc/profile"):
    for attempt in (
        lambda: os.close(os.open(path, os.O_WRONLY)),
        lambda: os.chmod(path, 0o777),
        lambda: os.utime(path),
        lambda: os.rename(path, path + ".hostile"),
        lambda: os.link(path, "hostile_link"),
        lambda: os.setxattr(path, "user.hostile", b"x"),
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
