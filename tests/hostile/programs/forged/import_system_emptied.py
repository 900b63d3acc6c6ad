"""Empties sys.modules, sys.path and the import machinery, so that the driver finds nothing.

expect: FAILED
"""

import sys


def task_func(values):
    for name in list(sys.modules):
        if name not in ("sys", "builtins"):
            sys.modules.pop(name)
    sys.meta_path.clear()
    sys.path.clear()
    return -1
