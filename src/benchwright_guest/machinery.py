"""The assertion methods tests call, pinned: private copies that an answer cannot replace by name.

`pinned_class` derives a class from the benchmark's test class.  Every method of ``unittest.TestCase`` that the
test source does not define itself is looked up there first, as a property (a data descriptor: no attribute of the
instance comes before it), and runs with globals and builtins of its own; the witness then makes the class
immutable.  Assertions also ask whether an operand is equal by a comparison of the answer's own making.
"""

import builtins
import gc
import itertools
import os
import types
import unittest
import unittest.case
import unittest.mock
import weakref

__unittest = True  # unittest leaves frames with this global out of tracebacks

FORKED = 97
_TYPE_ASSERTERS = {
    dict: "assertDictEqual", list: "assertListEqual", tuple: "assertTupleEqual",
    set: "assertSetEqual", frozenset: "assertSetEqual", str: "assertMultiLineEqual",
}  # fmt: skip
_SKIPPED_NAMES = frozenset(
    ("__init__", "__init_subclass__", "__eq__", "__hash__", "__str__", "__repr__", "__call__", "setUp", "tearDown",
     "setUpClass", "tearDownClass", "run", "debug", "id", "shortDescription", "countTestCases", "defaultTestResult")
)  # fmt: skip
_COMPARING = frozenset(
    ("assertEqual", "assertAlmostEqual", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertSetEqual",
     "assertCountEqual", "assertSequenceEqual", "assertIn", "assertMultiLineEqual", "assertGreater",
     "assertGreaterEqual", "assertLess", "assertLessEqual")
)  # fmt: skip
_OPERATORS = ("__eq__", "__ne__", "__sub__", "__rsub__", "__abs__", "__round__", "__lt__", "__gt__", "__le__", "__ge__",
              "__contains__", "__iter__", "__getitem__", "__len__", "__hash__")  # fmt: skip
_PROXIES = (weakref.ProxyType, weakref.CallableProxyType)
# How the value of an instance of a subclass is read without asking the subclass.
_PLAIN_VALUES = (
    (int, lambda value: int.__add__(value, 0)),
    (float, lambda value: float.__add__(value, 0.0)),
    (complex, lambda value: complex.__add__(value, 0j)),
    (str, lambda value: str.__getitem__(value, slice(None))),
    (bytes, lambda value: bytes.__getitem__(value, slice(None))),
    (list, lambda value: list.__getitem__(value, slice(None))),
    (tuple, lambda value: tuple.__getitem__(value, slice(None))),
    (dict, lambda value: dict(dict.items(value))),
    (set, lambda value: set.union(set(), value)),
    (frozenset, lambda value: frozenset.union(frozenset(), value)),
)
_PLAIN = frozenset((int, float, str, bool, type(None), bytes, complex))
_ITEMS = 5000
"""Operands are searched up to this many items; a test that compares more was not written by a person."""


def private_methods():
    """``(name, copy)`` of ``TestCase``'s methods; the copies have globals and builtins of their own."""
    namespace = dict(vars(unittest.case))
    namespace["__builtins__"] = dict(vars(builtins))
    methods = []
    for name, value in vars(unittest.TestCase).items():
        if name in _SKIPPED_NAMES or not isinstance(value, types.FunctionType):
            continue
        if value.__globals__ is not vars(unittest.case):  # made by a decorator from elsewhere, such as subTest
            methods.append((name, value))
            continue
        copy = types.FunctionType(value.__code__, namespace, value.__name__, value.__defaults__, value.__closure__)
        copy.__kwdefaults__ = value.__kwdefaults__
        copy.__doc__ = value.__doc__
        methods.append((name, copy))
    return tuple(methods)


def probe(known, allow_any, note, function, name, case, args, kwargs):
    """Look at the operands of an assertion that held, and note those that made it hold themselves.

    Args:
        known: Identities of the classes that were there before the answer.
        allow_any: Whether the test source itself uses ``mock.ANY``.
        note: Called with a sentence.
        function: The assertion's own function, for the second comparison on plain values.
        name: The assertion's name.
        case: The running test.
        args: Positional arguments of the assertion.
        kwargs: Named ones.
    """
    finds = _Finds(known)
    for value in itertools.chain(args[:2], kwargs.values()):
        finds.look(value)
    if finds.proxies:
        note("an object behind a weak proxy stood in an assertion")
    if finds.anything and not allow_any:
        note("an object equal to everything (mock.ANY) stood in an assertion")
    if finds.mocks:
        note("a mock equal to everything stood in an assertion")
    if finds.opaque and finds.others:
        note("an object equal by its own comparison only (class %s) stood in an assertion" % finds.opaque[:40])
    elif finds.subclasses and name in _COMPARING:
        try:
            function(case, *[_plain(value, known, 0) for value in args], **kwargs)
        except BaseException:
            note("an object equal by its own comparison only (class %s) stood in an assertion" % finds.subclasses[:40])


class _Finds:
    """What stands in the operands of one assertion."""

    def __init__(self, known):
        self.known = known
        self.left = _ITEMS
        self.proxies = self.anything = self.others = self.mocks = False
        self.opaque = self.subclasses = ""

    def look(self, value, depth=0):
        """Look at a value and, in plain containers, at what it holds."""
        kind = type(value)
        self.left -= 1
        if kind in _PLAIN:
            self.others = True
        elif kind in _PROXIES:
            self.proxies = True
        elif kind is unittest.mock._ANY:
            self.anything = True
        elif id(kind) in self.known:
            self.others = True
        elif issubclass(kind, unittest.mock.NonCallableMock):
            self.mocks = self.mocks or _equals_strangers(value)
        elif _compares_by_itself(kind, self.known):
            base = _plain_base(kind)
            if base is None:
                self.opaque = kind.__name__
            else:
                self.subclasses = kind.__name__
        if depth < 50 and self.left > 0:
            self._look_inside(value, kind, depth)

    def _look_inside(self, value, kind, depth):
        if kind in (list, tuple, set, frozenset):
            for item in value:
                self.look(item, depth + 1)
        elif kind is dict:
            for key, item in value.items():
                self.look(key, depth + 1)
                self.look(item, depth + 1)


def _compares_by_itself(kind, known):
    """Whether a class made since the fork brings comparisons of its own."""
    for base in kind.__mro__:
        if id(base) in known:
            return False
        if any(name in vars(base) for name in _OPERATORS):
            return True
    return False


def _plain_base(kind):
    for base, read in _PLAIN_VALUES:
        if base in kind.__mro__:
            return read
    return None


def _plain(value, known, depth):
    """A value with instances of the answer's subclasses of plain types read as what they hold."""
    kind = type(value)
    if kind in _PLAIN or depth > 50:
        return value
    if kind in (list, tuple):
        return kind(_plain(item, known, depth + 1) for item in value)
    if kind is dict:
        return {_plain(k, known, depth + 1): _plain(v, known, depth + 1) for k, v in value.items()}
    if id(kind) in known:
        return value
    read = _plain_base(kind)
    return value if read is None else _plain(read(value), known, depth + 1)


def pinned_class(test_class, methods, watch):
    """A subclass of the benchmark's test class whose assertion machinery cannot be replaced.

    Everything a pinned method needs stands in tuples: unlike cells, defaults and attributes, nobody can change them.

    Args:
        test_class: The class the test source made.
        methods: Result of :func:`private_methods`.
        watch: ``(known, allow_any, note, own_equality_functions)``: see :func:`probe`; the last says whether the test
            source registers type-specific equality functions.
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
        elif isinstance(value, staticmethod):
            members[name] = value
        elif isinstance(value, classmethod) and name != "__init_subclass__":
            # What it sets on its class must reach the one that can be changed.
            members[name] = property(types.MethodType(_bind_to_class, (value.__func__, test_class)))
    known, allow_any, note, own_equality_functions = watch
    main = os.getpid()
    for name, function in methods:
        if name in own:
            continue
        if name == "_getAssertEqualityFunc" and not own_equality_functions:
            members[name] = _pin(_equality_function)
        elif name.startswith("assert"):
            specification = (name, function, name in _COMPARING, main, known, allow_any, note)
            members[name] = property(types.MethodType(_bind_watched, specification), doc=function.__doc__)
        else:
            members[name] = _pin(function)
    # Tests that keep state in their class reach the one their source made; the pinned one does not change.
    members["__class__"] = property(types.MethodType(_first, (test_class,)))
    pinned = type(test_class)(test_class.__name__, (test_class,), members)
    pinned.__qualname__ = test_class.__qualname__
    return pinned


def _pin(function):
    return property(types.MethodType(_bind, (function,)), doc=function.__doc__)


def _bind(specification, case):
    return types.MethodType(specification[0], case)


def _bind_to_class(specification, case):
    return types.MethodType(*specification)


def _first(specification, case):
    return specification[0]


def _bind_watched(specification, case):
    return types.MethodType(_assertion, (specification, case))


def _assertion(bound, *args, **kwargs):
    (name, function, comparing, main, known, allow_any, note), case = bound
    if os.getpid() != main:
        os._exit(FORKED)  # a copy of the answer that ran on into the test, to learn what it expects
    result = function(case, *args, **kwargs)
    if comparing:
        probe(known, allow_any, note, function, name, case, args, kwargs)
    return result


def _equality_function(self, first, second):
    if type(first) is type(second):
        name = _TYPE_ASSERTERS.get(type(first))
        if name is not None:
            return getattr(self, name)
    return self._baseAssertEqual


def shadowed(case):
    """Whether the instance of a test carries attributes that hide methods of ``unittest.TestCase``."""
    return any(name.startswith("assert") or name in ("fail", "failureException") for name in vars(case))


def canaries(pinned, used):
    """Names of assertions that failed to fail.

    Args:
        pinned: The pinned class.
        used: Names of the assertion methods the test source calls.
    """
    case = pinned.__new__(pinned)
    unittest.TestCase.__init__(case, "fail")
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


class _Stranger:
    """A value nothing honest is equal to."""

    __slots__ = ("mark",)

    def __init__(self):
        self.mark = object()


def _equals_strangers(value):
    """Whether an object claims equality, or a difference of nothing, with values it cannot equal."""
    number = int.from_bytes(os.urandom(7), "big") + 11
    others = (_Stranger(), number, number + 0.5, "stranger %d" % number, b"%d" % number, [number], {number: 1})
    try:
        if any((value == other) is True or (value != other) is False for other in others):
            return True
    except Exception:
        pass
    try:
        return bool(round(abs(value - (number + 0.25)), 7) == 0)
    except Exception:
        return False


def impostors(known, trusted):
    """Names of classes made since the fork whose bare instances equal everything.

    The mother froze its objects, so the collector lists only what came after: no walk over ten thousand classes,
    whose pages the child would have to copy.  Classes whose comparison comes from a file below one of the
    ``trusted`` folders are the environment's own.
    """
    found = []
    for kind in gc.get_objects():
        # isinstance would ask a weak proxy for its class
        if not issubclass(type(kind), type) or id(kind) in known:
            continue
        members = vars(kind)
        foreign = [n for n in ("__eq__", "__ne__", "__sub__") if n in members and not _is_from(members[n], trusted)]
        if foreign and not issubclass(kind, (type, unittest.mock.NonCallableMock)) and _bare_equals_strangers(kind):
            found.append(kind.__name__[:40])
    return found


def _is_from(function, trusted):
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(trusted)


def _bare_equals_strangers(kind):
    for base in kind.__mro__:
        if base in (int, float, str, bytes, list, tuple, dict, set, frozenset, complex, object):
            try:
                return _equals_strangers(base.__new__(kind))
            except Exception:
                return False
    return False
