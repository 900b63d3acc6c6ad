"""Uses lru_cache, wraps, partial, singledispatch and the signature of its own function.

expect: PASSED
"""

import functools
import inspect


def checked(function):
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*arguments, **options):
        signature.bind(*arguments, **options)
        return function(*arguments, **options)

    return call


@functools.lru_cache(maxsize=None)
def square(value):
    return value * value


@functools.singledispatch
def as_list(values):
    raise TypeError("not a list: %r" % (values,))


as_list.register(list, list)


@checked
def task_func(values: list) -> float:
    assert list(inspect.signature(task_func).parameters) == ["values"]
    return functools.reduce(lambda total, value: total + square(value), as_list(values), 0)
