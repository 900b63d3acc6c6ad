"""Opens files under /sys for writing; right values only if all refuse.

expect: PASSED
"""

import os

REACHED = False
SEEN = 0
for folder, folders, files in os.walk("/sys"):
    for name in files:
        SEEN += 1
        if name in ("uevent", "bind", "unbind", "enabled", "online", "brightness", "uevent_helper", "level", "disksize", "power", "remove", "reset"):
            try:
                os.close(os.open(os.path.join(folder, name), os.O_WRONLY))
                REACHED = True
            except OSError:
                pass
    if SEEN > 3000:
        break
for path in ("/sys/kernel/uevent_helper", "/sys/power/state", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/module/apparmor/parameters/enabled",
             "/sys/fs/selinux/enforce", "/sys/kernel/debug", "/sys/kernel/security"):
    try:
        os.close(os.open(path, os.O_WRONLY))
        REACHED = True
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
