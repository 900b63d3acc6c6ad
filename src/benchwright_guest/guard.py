"""What the witness is given before an answer is loaded: the guest's own code, the fingerprint of the test machinery.

Answer and tests share a process, so nothing can stop native code that rewrites memory on purpose.  What the
witness (:file:`witness.c`) does with these tables, and what it cannot do, is in docs/explanation/trust.md.
"""

import asyncio
import builtins
import ctypes
import sys
import sysconfig
import types
import unittest
import unittest.case
import unittest.mock

REPORT = "benchwright.report"

_INNER_DEPTH = 2
"""How far functions named by the tests are followed into the globals they use."""
_MAX_ROWS = 1500


def guest_code(modules):
    """All code objects of guest modules, nested ones too, so that frames can be told by identity."""
    found = []

    def visit(code):
        found.append(code)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                visit(constant)

    for module in modules:
        for value in list(vars(module).values()):
            members = list(vars(value).values()) if isinstance(value, type) else [value]
            for member in members:
                if isinstance(member, types.FunctionType) and member.__module__ == module.__name__:
                    visit(member.__code__)
    return found


def fingerprint():
    """The machinery every test stands on, as ``(label, live mapping, key, value)`` rows; taken before forking."""
    rows = [("builtins", vars(builtins), key, value) for key, value in vars(builtins).items() if key != "_"]
    for owner in (unittest.case.TestCase, unittest.case._AssertRaisesContext, unittest.case._BaseTestCaseContext):
        rows += _class_rows(owner)
    for owner in (
        unittest.mock.NonCallableMock, unittest.mock.CallableMixin, unittest.mock.MagicMixin,
        unittest.mock._patch, unittest.mock._Call, unittest.mock._CallList, unittest.mock._ANY,
    ):  # fmt: skip
        rows += _class_rows(owner)
    rows += [("unittest.mock.patch", vars(unittest.mock.patch), k, v) for k, v in vars(unittest.mock.patch).items()]
    for module in (unittest, unittest.case, unittest.mock):
        rows += [(module.__name__, vars(module), k, v) for k, v in vars(module).items() if callable(v)]
    for name in ("builtins", "sys", "unittest", "unittest.case", "unittest.mock"):
        rows.append(("sys.modules", sys.modules, name, sys.modules[name]))
    for name in ("gettrace", "settrace", "getprofile", "setprofile", "audit", "addaudithook"):
        rows.append(("sys", vars(sys), name, vars(sys)[name]))
    return tuple(rows)


def module_rows(modules):
    """Rows for every name of the guest's modules and their classes."""
    rows = []
    for module in modules:
        rows += [("benchwright_guest", vars(module), key, value) for key, value in vars(module).items()]
        rows += [row for v in vars(module).values() if isinstance(v, type) and v.__module__ == module.__name__
                 for row in _class_rows(v)]  # fmt: skip
    return tuple(rows)


def sizes(modules):
    """``(label, live mapping, number of entries as text)``: a name added to a module would hide a builtin."""
    return tuple(("benchwright_guest", vars(module), str(len(vars(module)))) for module in modules)


def reference_rows(names):
    """Rows for library functions that the test source names, such as ``os.path.exists``, as far as they are loaded.

    A function is followed into the globals it uses, a class into its methods: replacing ``isclose`` inside numpy
    serves a forger as well as replacing ``numpy.allclose``.
    """
    rows = []
    for name in names:
        try:  # some members, such as flask.request, answer no question outside of their context
            owner, attribute, value = _resolve(name)
            if owner is not None and callable(value) and len(rows) < _MAX_ROWS:
                rows.append((name, vars(owner), attribute, value))
                if issubclass(type(value), type):
                    rows += _class_rows(value)
                rows += _inner_rows(value, _INNER_DEPTH)
        except Exception:
            continue
    return tuple(rows)


def _resolve(name):
    parts = name.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        owner = sys.modules.get(".".join(parts[:cut]))
        if isinstance(owner, types.ModuleType):
            for part in parts[cut:-1]:
                owner = vars(owner).get(part) if hasattr(owner, "__dict__") else None
            if not hasattr(owner, "__dict__") or parts[-1] not in vars(owner):
                return None, None, None
            return owner, parts[-1], vars(owner)[parts[-1]]
    return None, None, None


def _class_rows(owner):
    label = "%s.%s" % (owner.__module__, owner.__name__)
    return [(label, vars(owner), k, v) for k, v in vars(owner).items() if callable(v) and not k.startswith("__abc")]


def _inner_rows(function, depth):
    rows = []
    if depth and type(function) is types.FunctionType:
        inner = getattr(function, "__wrapped__", None)
        rows += _inner_rows(inner, depth) if inner is not None else []
        for name in function.__code__.co_names:
            value = function.__globals__.get(name)
            if type(value) is types.FunctionType:
                rows.append((function.__module__ or "?", function.__globals__, name, value))
                rows += _inner_rows(value, depth - 1)
    return rows


def known_types():
    """Identities of all classes alive now, and the classes themselves.

    They must be kept alive: a new class must not come to stand at the address of one that is gone.
    """
    seen = {}
    stack = [object]
    while stack:
        for child in type.__subclasses__(stack.pop()):
            if id(child) not in seen:
                seen[id(child)] = child
                stack.append(child)
    return frozenset(seen), tuple(seen.values())


def library_folders(readable):
    """``(standard library folders, other folders of the environment)``, each with a slash at the end."""
    stdlib = {sysconfig.get_paths()[name] + "/" for name in ("stdlib", "platstdlib")}
    libraries = {sysconfig.get_paths()[name] + "/" for name in ("purelib", "platlib")}
    libraries |= {folder for folder in readable if not any(path.startswith(folder) for path in stdlib)}
    return tuple(sorted(stdlib)), tuple(sorted(libraries))


def load_library(path):
    """The witness, with its functions declared; raises OSError when it does not fit this interpreter."""
    library = ctypes.PyDLL(path)
    anything, number = ctypes.py_object, ctypes.c_int
    library.bw_arm.argtypes = (number, anything, anything)
    library.bw_plan.argtypes = (anything, anything, anything, anything, anything, number)
    library.bw_run.argtypes = (anything, anything, anything)
    library.bw_close.argtypes = (anything,)
    library.bw_note.argtypes = (anything,)
    library.bw_take.restype = anything
    return library


def arm(library, channel, codes, folders):
    """Start to watch in a child; the key is the first thing the host has put on the channel.

    After this call ``sys.audit(REPORT, kind, fields)`` from the guest's own frames sends a signed frame of one of the
    harmless kinds; from anywhere else it sends an interference note.
    """
    fixed = (*folders, types.FunctionType, unittest.TestCase, unittest.SkipTest, builtins, asyncio.run)
    if library.bw_arm(channel, tuple({id(code): code for code in codes}.values()), fixed):
        raise OSError("the witness could not be armed")
