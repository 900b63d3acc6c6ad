"""Makes named tuples, dataclasses, enumerations and typed dictionaries, also inside the function.

expect: PASSED
"""

import collections
import dataclasses
import enum
import types
import typing

Pair = collections.namedtuple("Pair", "value square")


class Typed(typing.NamedTuple):
    value: float
    square: float


class Named(typing.TypedDict, total=False):
    value: float


def task_func(values):
    Local = dataclasses.make_dataclass("Local", [("value", float), ("square", float)])
    Kind = enum.Enum("Kind", "INTEGER REAL")
    Made = types.new_class("Made", (int,), {}, lambda namespace: namespace.update(kind=Kind.REAL))
    assert Made(3).kind is Kind.REAL
    return sum(made(value, value * value).square for value in values for made in ([Pair, Typed, Local][int(value) % 3],))
