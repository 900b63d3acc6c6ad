"""Leaves marked files in every writable place for the next sample to find; right values in any case.

expect: PASSED
"""

import os
import tempfile

for place in {".", "/tmp", "/var/tmp", "/dev/shm", "/run", "/dev/mqueue", tempfile.gettempdir(), os.path.expanduser("~"), os.path.expanduser("~/.cache"),
              os.path.expanduser("~/.config"), os.environ.get("NLTK_DATA", "."), os.environ.get("MPLCONFIGDIR", ".")}:
    try:
        with open(os.path.join(place, "hostile_trace"), "w") as file:
            file.write("x")
    except OSError:
        pass


def task_func(values):
    return sum(value * value for value in values)
