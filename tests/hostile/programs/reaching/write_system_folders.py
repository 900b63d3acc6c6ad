"""Creates files in the folders of the system; right values only if all of them refuse.

expect: PASSED
"""

import os

REACHED = False
for folder in ("/", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/usr/local/bin", "/etc", "/etc/cron.d", "/bin", "/lib", "/opt", "/var",
               "/var/lib", "/var/spool/cron", "/boot", "/srv", "/mnt", "/media", "/root", "/home", "/proc", "/sys"):
    path = os.path.join(folder, "hostile_trace")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        continue
    try:
        # A private file system that vanishes with the sample does no harm.
        REACHED = REACHED or os.stat(folder).st_dev not in (os.stat("/tmp").st_dev, os.stat(".").st_dev)
        os.unlink(path)
    except OSError:
        REACHED = True


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
