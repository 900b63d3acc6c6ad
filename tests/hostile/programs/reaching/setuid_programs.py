"""Runs every setuid program that it finds with arguments that would show its power; right values only if none gains anything.

expect: PASSED
limits: wall=20
"""

import glob
import os
import subprocess

REACHED = False
for command in (["su", "-c", "id -u"], ["sudo", "-n", "id", "-u"], ["pkexec", "id", "-u"], ["unshare", "-r", "id", "-u"], ["newgrp", "root"]):
    try:
        answer = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=1)
    except (OSError, subprocess.TimeoutExpired):
        continue
    REACHED = REACHED or answer.stdout.strip() == b"0"
for path in glob.glob("/usr/bin/*") + glob.glob("/bin/*"):
    try:
        if os.stat(path).st_mode & 0o6000 and not os.statvfs(path).f_flag & os.ST_NOSUID:
            # Only worth anything if the kernel honoured it, which no_new_privs forbids.
            with open("/proc/self/status") as file:
                REACHED = REACHED or "NoNewPrivs:\t1" not in file.read()
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
