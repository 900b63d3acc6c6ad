"""Makes cgroups, moves itself and lifts limits; right values only if all refuse.

expect: PASSED
"""

import os

REACHED = False
FOLDERS = {"/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids", "/sys/fs/cgroup/unified"}
try:
    with open("/proc/self/cgroup") as file:
        FOLDERS.update("/sys/fs/cgroup" + line.rstrip().split(":", 2)[2] for line in file)
except OSError:
    pass
for folder in FOLDERS:
    for name, text in (("cgroup.procs", "0"), ("tasks", "0"), ("memory.max", "max"), ("memory.limit_in_bytes", "-1"), ("pids.max", "max"),
                       ("cgroup.subtree_control", "+pids"), ("release_agent", ""), ("notify_on_release", "0")):
        try:
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
            REACHED = True
        except OSError:
            pass
    try:
        os.mkdir(os.path.join(folder, "hostile"))
        os.rmdir(os.path.join(folder, "hostile"))
        REACHED = True
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
