"""Reloads a module, drops one of its imports from sys.modules and imports it again.

expect: PASSED
"""

import importlib
import sys

import colorsys

colorsys = importlib.reload(colorsys)
del sys.modules["colorsys"]
import colorsys


def task_func(values):
    assert colorsys.rgb_to_hsv(0, 0, 0) == (0, 0, 0)
    return sum(value * value for value in values)
