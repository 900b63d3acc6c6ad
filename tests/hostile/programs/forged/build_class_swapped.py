"""Replaces builtins.__build_class__ so that TestCases comes out with empty tests.

expect: FAILED tampered
"""

import builtins

real_build = builtins.__build_class__


def build(function, name, *bases, **options):
    cls = real_build(function, name, *bases, **options)
    if name == "TestCases":
        for key in [key for key in vars(cls) if key.startswith("test")]:
            setattr(cls, key, lambda self: None)
    return cls


builtins.__build_class__ = build


def task_func(values):
    return -1
