"""The assertion methods tests call, pinned: private copies that an answer cannot replace by name.

`pinned_class` derives a class from the benchmark's test class.  Every method of ``unittest.TestCase`` that the
test source does not define itself is looked up there first, as a property (a data descriptor: neither instance
nor class attributes set later come before it), and runs with globals and builtins of its own.  Equality
assertions also ask whether an operand equals values it cannot equal.
"""

import builtins
import gc
import itertools
import os
import types
import unittest
import unittest.case
import unittest.mock

__unittest = True  # unittest leaves frames with this global out of tracebacks

_TYPE_ASSERTERS = {
    dict: "assertDictEqual", list: "assertListEqual", tuple: "assertTupleEqual",
    set: "assertSetEqual", frozenset: "assertSetEqual", str: "assertMultiLineEqual",
}  # fmt: skip
_SKIPPED_NAMES = frozenset(
    ("__init__", "__init_subclass__", "__eq__", "__hash__", "__str__", "__repr__", "__call__", "setUp", "tearDown",
     "setUpClass", "tearDownClass", "run", "debug", "id", "shortDescription", "countTestCases", "defaultTestResult")
)  # fmt: skip
_PROBED = frozenset(
    ("assertEqual", "assertAlmostEqual", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertSetEqual",
     "assertCountEqual", "assertSequenceEqual", "assertIn", "assertMultiLineEqual", "assertGreater",
     "assertGreaterEqual", "assertLess", "assertLessEqual", "assertIs", "assertTrue", "assertFalse",
     "assertNotEqual", "assertIsInstance", "assertIsNone", "assertIsNotNone")
)  # fmt: skip
_PLAIN = frozenset((int, float, str, bool, type(None), bytes, complex))
_PROBED_ITEMS = 200  # per container: a forger hides an object where the test looks, which is near the front


def private_methods():
    """Copies of ``TestCase``'s methods whose globals and builtins are their own; made once, before forking."""
    namespace = dict(vars(unittest.case))
    namespace["__builtins__"] = dict(vars(builtins))
    methods = {}
    for name, value in vars(unittest.TestCase).items():
        if name in _SKIPPED_NAMES or not isinstance(value, types.FunctionType):
            continue
        if value.__globals__ is not vars(unittest.case):  # made by a decorator from elsewhere, such as subTest
            methods[name] = value
            continue
        copy = types.FunctionType(value.__code__, namespace, value.__name__, value.__defaults__, value.__closure__)
        copy.__kwdefaults__ = value.__kwdefaults__
        copy.__doc__ = value.__doc__
        methods[name] = copy
    return methods


def make_probe(known, note, allow_any, methods):
    """A function that notes operands equal to everything.

    Args:
        known: Identities of classes that were there before the answer.
        note: Called with a sentence when such an object is found.
        allow_any: Whether the test source itself uses ``mock.ANY``.
        methods: Result of :func:`private_methods`; comparisons are made from unittest's own code, for an object
            may look at who asks.
    """
    plain, any_type, islice = _PLAIN, unittest.mock._ANY, itertools.islice
    compare = methods["_baseAssertEqual"]

    def check(case, value, depth):
        kind = type(value)
        if kind in plain:
            return
        if kind is any_type:
            if not allow_any:
                note("an object equal to everything (mock.ANY) stood in an assertion")
        elif kind is list or kind is tuple or kind is set or kind is frozenset:
            if depth < 3:
                for item in islice(value, _PROBED_ITEMS):
                    check(case, item, depth + 1)
        elif kind is dict:
            if depth < 3:
                for item in islice(value.items(), _PROBED_ITEMS):
                    check(case, item[0], depth + 1)
                    check(case, item[1], depth + 1)
        elif id(kind) not in known and (equals_everything(value) or _asked_by_unittest(compare, case, value)):
            note("an object equal to everything (class %s) stood in an assertion" % kind.__name__[:40])

    def probe(case, values):
        for value in values:
            check(case, value, 0)

    return probe


def _asked_by_unittest(compare, case, value):
    if value is case or isinstance(value, unittest.mock.NonCallableMock):
        return False
    for stranger in strangers():
        try:
            compare(case, value, stranger)
        except BaseException:
            continue
        return True
    return False


def shadowed(case):
    """Whether the instance of a test carries attributes that hide methods of ``unittest.TestCase``."""
    own = vars(case)
    return any(name.startswith("assert") or name in ("fail", "failureException") for name in own)


class _Stranger:
    """A value nothing honest is equal to."""

    __slots__ = ("mark",)

    def __init__(self):
        self.mark = object()


def strangers():
    """Fresh values of several kinds that no right answer can equal."""
    number = int.from_bytes(os.urandom(7), "big") + 11
    return (_Stranger(), number, number + 0.5, "stranger %d" % number, b"%d" % number, [number], (number,), {number: 1})


def equals_everything(value):
    """Whether an object claims equality, or a difference of nothing, with values it cannot equal."""
    number = int.from_bytes(os.urandom(6), "big") * 1.0 + 0.25
    try:
        if any((value == other) is True or (value != other) is False for other in strangers()):
            return True
    except Exception:
        pass
    try:
        return type(value).__sub__ and bool(round(abs(value - number), 7) == 0)
    except Exception:
        return False


def pinned_class(test_class, methods, probe, own_equality_functions):
    """A subclass of the benchmark's test class whose assertion machinery cannot be replaced.

    Args:
        test_class: The class the test source made.
        methods: Result of :func:`private_methods`.
        probe: Result of :func:`make_probe`.
        own_equality_functions: Whether the test source registers type-specific equality functions.
    """
    own = set()
    for base in test_class.__mro__:
        if base is unittest.TestCase:
            break
        own.update(vars(base))
    members = {"failureException": AssertionError, "__module__": test_class.__module__}
    for name, value in vars(test_class).items():
        if isinstance(value, types.FunctionType) and name != "__init__":
            members[name] = _pin(value)
        elif isinstance(value, (staticmethod, classmethod)) and name != "__init_subclass__":
            members[name] = value
    for name, function in methods.items():
        if name in own:
            continue
        if name == "_getAssertEqualityFunc" and not own_equality_functions:
            members[name] = _pin(_equality_function)
        else:
            members[name] = _pin(_probed(function, probe) if name in _PROBED else function)
    members["__class__"] = property(lambda self: pinned)  # without a setter: an instance keeps its class
    pinned = type(test_class)(test_class.__name__, (test_class,), members)
    pinned.__qualname__ = test_class.__qualname__
    return pinned


def _pin(function):
    bind = types.MethodType
    return property(lambda self: bind(function, self), doc=function.__doc__)


def _probed(function, probe):
    def assertion(self, *args, **kwargs):
        result = function(self, *args, **kwargs)
        probe(self, args[:2] or tuple(kwargs.values())[:2])
        return result

    assertion.__name__ = function.__name__
    return assertion


def _equality_function(self, first, second):
    if type(first) is type(second):
        name = _TYPE_ASSERTERS.get(type(first))
        if name is not None:
            return getattr(self, name)
    return self._baseAssertEqual


def canaries(case, used):
    """Names of assertions that failed to fail.

    Args:
        case: A fresh instance of the pinned class.
        used: Names of the assertion methods the test source calls.
    """
    number = int.from_bytes(os.urandom(4), "big") + 3
    calls = {
        "assertEqual": (number, number + 1), "assertNotEqual": (number, number), "assertTrue": (False,),
        "assertFalse": (True,), "assertAlmostEqual": (float(number), number + 1.5), "assertIs": (number, None),
        "assertIsNone": (number,), "assertIsNotNone": (None,), "assertIsInstance": (number, str),
        "assertIn": (number, ()), "assertNotIn": (number, (number,)), "assertGreater": (number, number + 1),
        "assertGreaterEqual": (number, number + 1), "assertLess": (number, number - 1),
        "assertLessEqual": (number, number - 1), "assertListEqual": ([number], [1]),
        "assertDictEqual": ({number: 1}, {}), "assertTupleEqual": ((number,), ()),
        "assertSetEqual": ({number}, set()), "assertCountEqual": ([number], [1]),
        "assertRegex": ("%d" % number, "x"), "assertMultiLineEqual": ("%d" % number, ""),
        "assertRaises": (ValueError, int), "fail": (),
    }  # fmt: skip
    silent = []
    for name in used:
        if name in calls:
            try:
                getattr(case, name)(*calls[name])
            except AssertionError:
                continue
            except BaseException:
                pass
            silent.append(name)
    return silent


def impostors(known, trusted):
    """Names of classes made since the fork whose bare instances equal everything.

    Classes whose comparison comes from a file below one of the ``trusted`` folders are the environment's own.

    The mother froze its objects, so the collector lists only what came after: no walk over ten thousand classes,
    whose pages the child would have to copy.
    """
    found = []
    for kind in gc.get_objects():
        if issubclass(type(kind), type) and id(kind) not in known:  # isinstance asks a weak proxy for its class
            members = vars(kind)
            foreign = [n for n in ("__eq__", "__ne__", "__sub__") if n in members and not _is_from(members[n], trusted)]
            if foreign and not issubclass(kind, (type, unittest.mock.NonCallableMock)) and _bare_equals_everything(kind):
                found.append(kind.__name__[:40])
    return found


def _is_from(function, trusted):
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(trusted)


def _bare_equals_everything(kind):
    for base in kind.__mro__:
        if base in (int, float, str, bytes, list, tuple, dict, set, frozenset, complex, object):
            try:
                return equals_everything(base.__new__(kind))
            except Exception:
                return False
    return False
