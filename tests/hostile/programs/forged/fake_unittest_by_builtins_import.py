"""Replaces builtins.__import__ so that the test gets another unittest.

expect: FAILED tampered
"""

import builtins
import contextlib
import types
import unittest


class PassingTestCase(unittest.TestCase):
    """Looks like a TestCase; nothing it asserts can fail."""


def nothing(self, *arguments, **options):
    return contextlib.suppress(BaseException)


for name in dir(unittest.TestCase):
    if name.startswith("assert"):
        setattr(PassingTestCase, name, nothing)

real_import = builtins.__import__


def lying_import(name, *arguments, **options):
    if name == "unittest":
        return types.SimpleNamespace(TestCase=PassingTestCase)
    return real_import(name, *arguments, **options)


builtins.__import__ = lying_import


def task_func(values):
    return -1
