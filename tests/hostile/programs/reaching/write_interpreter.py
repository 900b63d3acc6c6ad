"""Writes into the standard library, its caches and site-packages; right values only if all is refused.

expect: PASSED
"""

import json
import os
import site
import sys
import sysconfig

FOLDERS = {os.path.dirname(os.__file__), os.path.dirname(json.__file__), sys.prefix, sys.base_prefix, os.path.dirname(sys.executable)}
FOLDERS.update(sysconfig.get_paths().values())
FOLDERS.update(site.getsitepackages())
FOLDERS.update(path for path in sys.path if os.path.isabs(path))
FOLDERS.update([os.path.join(folder, "__pycache__") for folder in FOLDERS])
REACHED = False
for folder in FOLDERS:
    if os.path.realpath(folder).startswith((os.path.realpath("."), os.path.realpath("/tmp") + "/")) or not os.path.isdir(folder):
        continue
    for name in ("hostile_trace.pth", "sitecustomize.py", "hostile_trace.pyc"):
        path = os.path.join(folder, name)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            os.unlink(path)
            REACHED = True
        except OSError:
            pass
for path in (os.__file__, json.__file__, sys.executable, getattr(json, "__cached__", None) or json.__file__):
    try:
        os.close(os.open(path, os.O_WRONLY))
        REACHED = True
    except OSError:
        pass


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
