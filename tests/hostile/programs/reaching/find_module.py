"""Imports what leave_module left; right values only if nothing is found.

expect: PASSED
"""

import builtins
import colorsys
import subprocess
import sys

try:
    import hostile_trace_module

    REACHED = True
except ImportError:
    REACHED = False
REACHED = REACHED or hasattr(builtins, "HOSTILE_TRACE") or not hasattr(colorsys, "rgb_to_hsv")
ANSWER = subprocess.run([sys.executable, "-c", "import builtins; print(hasattr(builtins, 'HOSTILE_TRACE'))"], capture_output=True)
REACHED = REACHED or b"True" in ANSWER.stdout


def task_func(values):
    if REACHED:
        return -1
    return sum(value * value for value in values)
