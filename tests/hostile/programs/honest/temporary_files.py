"""Works with temporary files and folders, also in the working directory and home, and leaves some.

expect: PASSED
"""

import csv
import os
import tempfile
from pathlib import Path


def task_func(values):
    len(values)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "values.csv")
        with path.open("w", newline="") as file:
            csv.writer(file).writerow(values)
    Path("left_behind.txt").write_text("left behind")
    Path(os.path.expanduser("~"), "left_behind.txt").write_text("left behind")
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(b"left behind")
    return sum(value * value for value in values)
