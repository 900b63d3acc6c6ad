"""Leaves modules named like those of the standard library and user customisation for the next sample; right values in any case.

expect: PASSED
"""

import os
import site

for place in {".", "/tmp", os.path.expanduser("~"), site.getusersitepackages()}:
    try:
        os.makedirs(place, exist_ok=True)
        for name in ("usercustomize.py", "sitecustomize.py", "hostile_trace_module.py", "bisect.py", "colorsys.py"):
            with open(os.path.join(place, name), "w") as file:
                file.write("import builtins\nbuiltins.HOSTILE_TRACE = True\n")
    except OSError:
        pass


def task_func(values):
    return sum(value * value for value in values)
