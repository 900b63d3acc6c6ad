"""Replaces the process by /bin/true, which succeeds.

expect: FAILED tests_not_run
"""

import os


def task_func(values):
    for path in ("/bin/true", "/usr/bin/true"):
        if os.path.exists(path):
            os.execv(path, ["true"])
    os._exit(0)
