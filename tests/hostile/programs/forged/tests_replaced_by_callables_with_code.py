"""Runs while the tests import unittest, by a property of its __spec__, and replaces each test by an object with the right __code__.

expect: FAILED tampered | FAILED exception | FAILED assertion
"""

import types
import unittest


class Pretender:
    __class__ = types.FunctionType

    def __init__(self, function):
        self.__code__ = function.__code__

    def __call__(self, case):
        pass


original = unittest.TestCase.__dict__["__init_subclass__"]


def replace(cls):
    unittest.TestCase.__init_subclass__ = original
    for name, function in list(vars(cls).items()):
        if name.startswith("test_"):
            setattr(cls, name, Pretender(function))


class Spec:
    def __init__(self, spec):
        self.spec = spec

    def __getattr__(self, name):
        if name == "_initializing":
            unittest.TestCase.__init_subclass__ = classmethod(replace)
            unittest.__spec__ = self.spec
        return getattr(self.spec, name)


unittest.__spec__ = Spec(unittest.__spec__)


def task_func(values):
    return -1
