"""What stands between an answer and the evidence: the signed channel, the fingerprint of the test machinery, tripwires.

Answer and tests share a process, so nothing here can stop native code that rewrites memory on purpose.  What it
does: results leave the process as they arise and cannot be taken back; the key that signs them is held by an
audit hook, which no Python name leads to; a report is accepted only from the driver's own frames; the machinery
the tests stand on is compared with its state before the answer was loaded; looking for the hook (``gc``, memory)
raises an audit event that the hook itself sees and reports first.  See docs/explanation/trust.md.
"""

import builtins
import ctypes
import hashlib
import os
import sys
import threading
import types
import unittest
import unittest.case
import unittest.mock

from . import frames

REPORT = "benchwright.report"
INTERFERENCE, OBSERVATION = "interference", "observation"

# Audit events that an honest answer has no use for, and what to call them.  Only calls made directly by code
# that is not part of the environment count.
_TRIPWIRES = {
    "gc.get_objects": "searched the interpreter's objects (gc.get_objects)",
    "gc.get_referrers": "searched the interpreter's objects (gc.get_referrers)",
    "gc.get_referents": "searched the interpreter's objects (gc.get_referents)",
    "sys._current_frames": "looked at the frames of all threads",
    "sys.settrace": "set a trace function",
    "sys.addaudithook": "added an audit hook",
    "ctypes.string_at": "read raw memory (ctypes.string_at)",
    "ctypes.wstring_at": "read raw memory (ctypes.wstring_at)",
    "ctypes.cdata": "mapped raw memory (ctypes from_address)",
    "cpython._PySys_ClearAuditHooks": "cleared audit hooks",
}
_PROTECTED_ATTRIBUTES = frozenset(("__code__", "__defaults__", "__kwdefaults__"))
_MEMORY_FILES = ("/mem", "/pagemap", "/syscall")

_NUMPY_NAMES = ("allclose", "isclose", "array_equal", "array_equiv", "all", "any", "abs", "round", "isnan")
_PANDAS_TESTING = ("assert_frame_equal", "assert_series_equal", "assert_index_equal", "assert_equal")


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
    """The machinery tests stand on, as ``(label, live mapping, key, value)`` rows; taken before forking."""
    rows = [("builtins", vars(builtins), _items(vars(builtins), skip=("_", "__debug__")))]
    for owner in (unittest.case.TestCase, unittest.case._AssertRaisesContext, unittest.case._BaseTestCaseContext):
        rows.append(("unittest." + owner.__name__, vars(owner), _items(vars(owner))))
    for owner in (
        unittest.mock.NonCallableMock, unittest.mock.CallableMixin, unittest.mock.MagicMixin,
        unittest.mock._patch, unittest.mock._Call, unittest.mock._CallList, unittest.mock._ANY,
    ):  # fmt: skip
        rows.append(("unittest.mock." + owner.__name__, vars(owner), _items(vars(owner))))
    for module in (unittest, unittest.case, unittest.mock):
        rows.append((module.__name__, vars(module), _items(vars(module), callables=True)))
    for name, keys in (("numpy", _NUMPY_NAMES), ("numpy.testing", None), ("pandas.testing", _PANDAS_TESTING)):
        module = sys.modules.get(name)
        if module is not None:
            chosen = [k for k in vars(module) if k.startswith("assert")] if keys is None else keys
            rows.append((name, vars(module), tuple((k, vars(module)[k]) for k in chosen if k in vars(module))))
    modules = tuple((n, sys.modules[n]) for n in ("builtins", "sys", "unittest", "unittest.case", "unittest.mock"))
    rows.append(("sys.modules", sys.modules, modules))
    return flat_rows(rows)


def flat_rows(groups):
    """``(label, mapping, items)`` groups as one row per item."""
    return tuple((label, mapping, key, value) for label, mapping, items in groups for key, value in items)


def _items(mapping, skip=(), callables=False):
    return tuple(
        (key, value)
        for key, value in mapping.items()
        if key not in skip and not key.startswith("__abc") and (callable(value) or not callables)
    )


def known_types():
    """Identities of all classes alive now, so that later ones can be told apart."""
    seen = set()
    stack = [object]
    while stack:
        for child in type.__subclasses__(stack.pop()):
            if id(child) not in seen:
                seen.add(id(child))
                stack.append(child)
    return frozenset(seen)


def arm(library, channel, codes, rows, trusted):
    """Start to watch in a child and be ready to sign; the key is the first thing the host has put on the channel.

    After this call ``sys.audit(REPORT, payload)`` from the driver's own frames sends a signed frame; from anywhere
    else it sends an interference note.

    Args:
        library: The witness (a ``ctypes.PyDLL``), or None where there was no C compiler: the same rules are then
            kept by a Python hook, whose key an answer that knows this code could find.
        channel: The private channel's descriptor.
        codes: Code objects of the guest.
        rows: Result of :func:`fingerprint`.
        trusted: Folders of the environment; code from files below them may trip wires.
    """
    codes = tuple({id(code): code for code in codes}.values())
    if library is None:
        _install_python_hook(channel, os.read(channel, frames.KEY_BYTES), codes, rows, trusted)
    elif library.bw_arm(channel, ctypes.py_object(codes), ctypes.py_object(rows), ctypes.py_object(trusted)):
        raise OSError("the witness could not be armed")


def _install_python_hook(descriptor, key, codes, rows, trusted_prefixes):
    # Everything the hook needs is a local of this frame: module globals and builtins can be replaced by an
    # answer, cells of a function that nothing refers to cannot be reached without tripping a wire.
    write, getpid, getframe, ident = os.write, os.getpid, sys._getframe, threading.get_ident
    gettrace, getprofile = sys.gettrace, sys.getprofile
    blake2b, pack_length, pack_sequence = hashlib.blake2b, frames.HEADER.pack, frames.SEQUENCE.pack
    code_ids = frozenset(id(code) for code in codes)
    keep_alive = tuple(codes)
    main_thread, main_pid = ident(), getpid()
    signature_bytes = frames.SIGNATURE_BYTES
    sequence = [0]
    noted = set()
    tripwires, protected, memory_files = _TRIPWIRES, _PROTECTED_ATTRIBUTES, _MEMORY_FILES
    report_event, function_type = REPORT, types.FunctionType
    identity, length, is_instance, text_type, tuple_type = id, len, isinstance, str, tuple
    any_error = BaseException

    def send(text):
        payload = text.encode("utf-8", "backslashreplace")
        signature = blake2b(pack_sequence(sequence[0]) + payload, key=key, digest_size=signature_bytes).digest()
        sequence[0] += 1
        data = pack_length(length(payload)) + signature + payload
        while data:
            data = data[write(descriptor, data) :]

    def note(level, what):
        if what not in noted:
            noted.add(what)
            what = "".join(c if c.isalnum() or c in " .,:()_/-" else "?" for c in what)
            send('{"kind":"note","level":"%s","what":"%s"}' % (level, what))

    def only_driver(frame):
        while frame is not None:
            if identity(frame.f_code) not in code_ids:
                return False
            frame = frame.f_back
        return True

    def compare():
        for label, mapping, name, value in rows:
            if mapping.get(name) is not value:
                note("interference", "%s.%s was replaced" % (label, name))
        if gettrace() is not None:
            note("interference", "a trace function was left in place")
        profile = getprofile()
        if is_instance(profile, function_type):
            note("interference", "a profile function was left in place")

    def from_environment(frame):
        name = frame.f_code.co_filename
        return identity(frame.f_code) in code_ids or name.startswith((*trusted_prefixes, "<frozen"))

    def hook(event, arguments):
        if event == report_event:
            # The report is delivered by the driver alone, on the main thread, with no foreign frame below it.
            genuine = ident() == main_thread and getpid() == main_pid and only_driver(getframe(2))
            if genuine:
                compare()
                send(arguments[0])
            else:
                note("interference", "a report came from outside the driver")
        elif event in tripwires:
            frame = getframe(2)
            if not from_environment(frame):
                note("interference", tripwires[event])
        elif event == "object.__setattr__":
            if arguments[1] in protected and not from_environment(getframe(2)):
                changed = getattr(arguments[0], "__code__", None)
                name = changed.co_filename if changed is not None else ""
                if name == "tests.py" or identity(changed) in code_ids or name.startswith(trusted_prefixes):
                    note("interference", "changed %s of a function" % arguments[1])
        elif event == "open":
            path = arguments[0]
            if is_instance(path, text_type) and path.startswith("/proc/") and path.endswith(memory_files):
                note("interference", "opened %s" % path)
        elif event == "import":
            if arguments[0] == "gc":
                note("interference", "imported gc anew")
        elif event == "compile":
            name = arguments[1] if is_instance(arguments, tuple_type) and length(arguments) > 1 else None
            borrowed = is_instance(name, text_type) and name.startswith(trusted_prefixes)
            if borrowed and not from_environment(getframe(2)):
                note("interference", "compiled code under the name of an environment file")
        elif event == "ctypes.dlsym":
            symbol = arguments[1]
            inner = is_instance(symbol, text_type) and symbol.startswith(("Py", "_Py"))
            if inner and not from_environment(getframe(2)):
                note("interference", "looked up interpreter symbol %s" % symbol)

    def guarded_hook(event, arguments):
        try:
            hook(event, arguments)
        except any_error:
            if event == report_event:
                raise

    assert keep_alive
    sys.addaudithook(guarded_hook)

