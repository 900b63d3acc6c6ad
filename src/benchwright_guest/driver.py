"""Load an answer, run its tests one by one, report each as it ends.

The run protocol is unittest's (setUpModule, setUpClass, setUp, test, tearDown, cleanups, in name order), executed
by this module's own loop: an answer that rewrites unittest's runner, loader, suite or result changes nothing.
"""

import asyncio
import gc
import json.encoder
import signal
import sys
import time
import traceback
import unittest
import unittest.mock
from types import CodeType, CoroutineType, FunctionType, MethodType, ModuleType

from . import guard, machinery

MODULE_NAME = "__test__"
MESSAGE_CHARACTERS = 2000


class LoadFailure(Exception):
    """Something went wrong before the first test; carries the phase and the exception."""

    def __init__(self, phase, error):
        super().__init__(phase)
        self.phase = phase
        self.error = error


def _refuse(value):
    raise TypeError("not plain data: %r" % type(value))


# C objects throughout: nothing in between can be replaced by an answer.
_ENCODE = json.encoder.c_make_encoder(
    None, _refuse, json.encoder.c_encode_basestring_ascii, None, ":", ",", False, False, True
)
_EVERY_SIGNAL = tuple(signal.valid_signals())


def report(message, _audit=sys.audit, _encode=_ENCODE, _event=guard.REPORT):
    """Hand one message to the guard as JSON text; see :func:`benchwright_guest.guard.arm`."""
    _audit(_event, "".join(_encode(message, 0)))


def quiet(_disable=gc.disable, _mask=signal.pthread_sigmask, _how=signal.SIG_BLOCK, _which=_EVERY_SIGNAL):
    """Let no signal handler and no collection run answer code while the driver works."""
    _disable()
    _mask(_how, _which)


def loud(_enable=gc.enable, _mask=signal.pthread_sigmask, _how=signal.SIG_UNBLOCK, _which=_EVERY_SIGNAL):
    """Undo :func:`quiet` for the time a test runs."""
    _mask(_how, _which)
    _enable()


def interference(what):
    """Report that the answer interfered with the machinery."""
    report({"kind": "note", "level": guard.INTERFERENCE, "what": what})


def run(job, prepared, missing):
    """Execute one job to its closing frame.

    Args:
        job: ``stub``, ``code``, ``tests``, ``class_name``, ``planned`` (ids), ``may_skip`` (ids), ``entry_point``,
            ``assertions`` (names the test source calls).
        prepared: What the mother made before forking: ``known`` types and private ``methods``.
        missing: List that collects top-level modules whose import failed.
    """
    pending = []
    module = _new_module()
    try:
        test_code = _compile("tests", job["tests"], "tests.py")
        _load_answer(module, job)
        report({"kind": "loaded"})
        test_class = _load_tests(module, test_code, job)
    except LoadFailure as failure:
        _report_load_failure(failure)
        report({"kind": "closing", "missing": missing})
        return
    probe = machinery.make_probe(prepared["known"], pending.append, "ANY" in job["tests"], prepared["methods"])
    session = _Session(job, module, test_class, test_code, prepared, probe, pending)
    session.run_all()
    if session.all_passed:
        for name in machinery.impostors(prepared["known"], prepared["trusted"]):
            interference("class %s equals everything" % name)
    report({"kind": "closing", "missing": missing})


def _new_module():
    import builtins
    import os

    module = ModuleType(MODULE_NAME)
    module.__dict__.update(
        {"__builtins__": builtins, "__file__": MODULE_NAME + ".py", "__package__": None, "__doc__": None,
         "sys": sys, "os": os, "environ": os.environ}
    )  # fmt: skip
    return module


def _compile(phase, source, name):
    try:
        return compile(source, name, "exec", dont_inherit=True)
    except BaseException as error:
        raise LoadFailure(phase, error) from error


def _execute(phase, code, module):
    loud()
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        quiet()
        raise LoadFailure(phase, error) from error
    quiet()


def _load_answer(module, job):
    answer_code = _compile("answer", job["code"], "answer.py")
    name = job["entry_point"]
    placeholder = None
    if job["stub"] is not None:
        _execute("stub", _compile("stub", job["stub"], "stub.py"), module)
        placeholder = module.__dict__.get(name)
    _execute("answer", answer_code, module)
    found = module.__dict__.get(name)
    if found is None or found is placeholder:
        raise LoadFailure("entry_point", NameError("the answer does not define %s" % name))
    if not callable(found):
        raise LoadFailure("entry_point", TypeError("%s is not callable" % name))


def _load_tests(module, code, job):
    _execute("tests", code, module)
    sys.modules[MODULE_NAME] = module
    test_class = module.__dict__.get(job["class_name"])
    if not isinstance(test_class, type) or unittest.TestCase not in test_class.__mro__:
        interference("the test class is not a unittest.TestCase any more")
        raise LoadFailure("tests", TypeError("%s is no test class" % job["class_name"]))
    return test_class


def _report_load_failure(failure):
    error = failure.error
    line = error.lineno if isinstance(error, SyntaxError) else None
    if line is None:
        for frame, number in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename == "answer.py":
                line = number
    report(
        {
            "kind": "load_error",
            "phase": failure.phase,
            "exception": type(error).__name__,
            "message": _clip(_describe(error)),
            "line": line if isinstance(line, int) else None,
            "missing_module": _missing_module(error),
        }
    )


def _describe(error):
    try:
        return "".join(traceback.format_exception_only(type(error), error)).strip()
    except Exception:
        return type(error).__name__


def _missing_module(error):
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str):
            return error.name.partition(".")[0]
        error = error.__cause__ or error.__context__
    return None


def _clip(text):
    if len(text) <= MESSAGE_CHARACTERS:
        return text
    half = MESSAGE_CHARACTERS // 2
    return text[:half] + "\n[...]\n" + text[-half:]


def _class_code(test_code, class_name):
    """Code objects of the functions defined in the class body, by name; the last class of that name counts."""
    functions = {}
    for constant in test_code.co_consts:
        if isinstance(constant, CodeType) and constant.co_name == class_name:
            functions = {c.co_name: c for c in constant.co_consts if isinstance(c, CodeType)}
    return functions


class _Session:
    """One run over the planned tests."""

    def __init__(self, job, module, test_class, test_code, prepared, probe, pending):
        self.job = job
        self.module = module
        self.original = test_class
        self.pending = pending
        self.all_passed = True
        self.may_skip = frozenset(job["may_skip"])
        expected = _class_code(test_code, job["class_name"])
        self.tests = []
        for test_id in job["planned"]:
            name = test_id.rpartition(".")[2]
            function = getattr(test_class, name, None)
            if function is None:
                interference("test %s was removed" % name)
            elif name in expected and not _runs_code(function, expected[name], test_id in job["decorated"]):
                interference("test %s was replaced" % name)
            else:
                self.tests.append((test_id, name, function))
        for name, value in vars(test_class).items():
            foreign = isinstance(value, FunctionType) and not any(value.__code__ is c for c in expected.values())
            if foreign and name not in expected and value.__name__ != "<lambda>" and not hasattr(value, "__wrapped__"):
                interference("%s was added to the test class" % name)
        if not job["calls_own_tests"]:
            self._hide_tests(expected)
        own = "addTypeEqualityFunc" in job["tests"]
        self.pinned = machinery.pinned_class(test_class, prepared["methods"], probe, own)

    def _hide_tests(self, expected):
        """Put traps where the tests were: an answer that runs them to learn what they expect is noted."""
        note = self.pending.append

        def trap(self, *args, **kwargs):
            note("the answer ran a test by itself")
            raise RuntimeError("tests are run by the driver")

        for name in list(vars(self.original)):
            if name.startswith("test") and name in expected:
                setattr(self.original, name, trap)

    def run_all(self):
        """Run module and class fixtures and every test; report each."""
        problem = self._fixture("setUpModule", self.module.__dict__.get("setUpModule"))
        if problem is None:
            problem = self._fixture("setUpClass", self.pinned.setUpClass)
        for test_id, name, function in self.tests:
            started = time.perf_counter()
            if problem is not None:
                outcome, error = problem
            else:
                outcome, error = self._run_test(test_id, name, function)
            self._report_test(test_id, outcome, error, time.perf_counter() - started)
        if problem is None:
            self._fixture("tearDownClass", self.pinned.tearDownClass)
            self._class_cleanups()
        self._fixture("tearDownModule", self.module.__dict__.get("tearDownModule"))

    def _fixture(self, name, function):
        if function is None:
            return None
        outcome, error = _attempt(function, AssertionError)
        if outcome == "passed":
            return None
        if outcome == "skipped":
            return outcome, error
        report({"kind": "fixture", "name": name, "message": _clip(_describe(error))})
        self.all_passed = False
        return "error", error

    def _class_cleanups(self):
        cleanups = self.pinned.__dict__.get("_class_cleanups") or getattr(self.original, "_class_cleanups", [])
        while cleanups:
            function, args, kwargs = cleanups.pop()
            self._fixture("class cleanup", lambda f=function, a=args, k=kwargs: f(*a, **k))

    def _run_test(self, test_id, name, function):
        if test_id in self.may_skip and _asks_to_skip(function, self.original):
            return "skipped", None
        case = self.pinned(name)
        bound = MethodType(function, case) if isinstance(function, FunctionType) else getattr(case, name)
        expecting_failure = test_id in self.may_skip and getattr(function, "__unittest_expecting_failure__", False)
        outcome, error = _attempt(case.setUp, AssertionError)
        if outcome == "passed":
            outcome, error = _attempt(bound, AssertionError)
            if expecting_failure and outcome != "skipped":
                outcome = "unexpected_success" if outcome == "passed" else "expected_failure"
            after, after_error = _attempt(case.tearDown, AssertionError)
            if after != "passed" and outcome == "passed":
                outcome, error = after, after_error
        cleanups = getattr(case, "_cleanups", [])
        while cleanups:
            cleanup, args, kwargs = cleanups.pop()
            after, after_error = _attempt(lambda f=cleanup, a=args, k=kwargs: f(*a, **k), AssertionError)
            if after != "passed" and outcome == "passed":
                outcome, error = after, after_error
        if type(case) is not self.pinned or machinery.shadowed(case):
            self.pending.append("the running test was given other methods or another class")
        silent = machinery.canaries(self.pinned(name), self.job["assertions"])
        for assertion in silent:
            self.pending.append("%s did not fail where it must" % assertion)
        return outcome, error

    def _report_test(self, test_id, outcome, error, seconds):
        self.all_passed = self.all_passed and outcome == "passed"
        for what in self.pending:
            interference(what)
        del self.pending[:]
        report(
            {
                "kind": "test",
                "id": test_id,
                "outcome": outcome,
                "seconds": round(seconds, 6),
                "exception": type(error).__name__[:80] if error is not None else "",
                "message": _clip(_format(error)) if error is not None else "",
                "missing_module": _missing_module(error),
            }
        )


def _runs_code(function, code, decorated):
    if getattr(function, "__code__", None) is code:
        return True
    if not decorated:
        return False
    for _ in range(50):
        function = getattr(function, "__wrapped__", None)
        if function is None:
            return False
        if getattr(function, "__code__", None) is code:
            return True
    return False


def _asks_to_skip(function, test_class):
    return bool(getattr(function, "__unittest_skip__", False) or getattr(test_class, "__unittest_skip__", False))


def _attempt(function, assertion_error):
    """Call one piece of answer or test code; the only place where such code runs in a loud process."""
    loud()
    try:
        result = function()
        if type(result) is CoroutineType:
            asyncio.run(result)
    except unittest.SkipTest as error:
        quiet()
        return "skipped", error
    except assertion_error as error:
        quiet()
        return "failed", error
    except BaseException as error:
        quiet()
        return "error", error
    quiet()
    return "passed", None


def _format(error):
    """The traceback from the first frame of answer or tests on, in unittest's spelling."""
    try:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename not in ("answer.py", "tests.py", "stub.py"):
            trace = trace.tb_next
        last = trace
        while last is not None and last.tb_next is not None:
            if "__unittest" in last.tb_next.tb_frame.f_globals:
                break
            last = last.tb_next
        limit = None
        if last is not None:
            limit = sum(1 for _ in traceback.walk_tb(trace)) - sum(1 for _ in traceback.walk_tb(last.tb_next))
        return "".join(traceback.format_exception(type(error), error, trace, limit=limit))
    except Exception:
        return _describe(error)
