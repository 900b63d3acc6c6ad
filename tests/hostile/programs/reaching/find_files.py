"""Looks for the marked files of leave_files; right values only if none is left.

expect: PASSED
"""

import os
import tempfile

REACHED = any(
    os.path.exists(os.path.join(place, "hostile_trace"))
    for place in {".", "/tmp", "/var/tmp", "/dev/shm", "/run", "/dev/mqueue", tempfile.gettempdir(), os.path.expanduser("~"), os.path.expanduser("~/.cache"),
                  os.path.expanduser("~/.config"), os.environ.get("NLTK_DATA", "."), os.environ.get("MPLCONFIGDIR", ".")}
)


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
