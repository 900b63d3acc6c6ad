"""Load an answer and its tests, then hand both to the witness, which runs the tests one by one.

The run protocol is unittest's (setUpModule, setUpClass, setUp, test, tearDown, cleanups, in name order), executed
by the witness in C: an answer that rewrites unittest's runner, loader, suite or result, or this module, changes
nothing about whether a test's call raised.
"""

import gc
import json.encoder
import os
import sys
import traceback
import unittest
from types import CodeType, FunctionType, ModuleType

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


_ENCODE = json.encoder.c_make_encoder(
    None, _refuse, json.encoder.c_encode_basestring_ascii, None, ":", ",", False, False, True
)


def report(kind, fields, _audit=sys.audit, _encode=_ENCODE, _event=guard.REPORT):
    """Send a message of a kind that cannot turn anything into a pass; see :func:`benchwright_guest.guard.arm`."""
    _audit(_event, kind, "".join(_encode(fields, 0)))


def interference(what):
    """Report that the answer interfered with the machinery."""
    report("note", {"level": "interference", "what": what})


def run(job, prepared, missing, library):
    """Execute one job to its closing frame.

    Args:
        job: ``stub``, ``code``, ``tests``, ``class_name``, ``planned`` (ids), ``decorated`` and ``may_skip`` (ids),
            ``entry_point``, ``assertions`` and ``references`` (names the test source uses), ``plain_bases``.
        prepared: What the mother made before forking: fingerprint, known types, private methods.
        missing: List that collects top-level modules whose import failed.
        library: The armed witness.
    """
    module = _new_module()
    try:
        test_code = _compile("tests", job["tests"], "tests.py")
        expected = _class_code(test_code, job["class_name"])
        rows = prepared["fingerprint"] + guard.reference_rows(job["references"])
        plan = tuple(_planned(test_id, job, expected) for test_id in job["planned"])
        if library.bw_plan(plan, rows, prepared["sizes"], module.__dict__, job["class_name"], int(job["plain_bases"])):
            raise RuntimeError("the witness refused the plan")
        _load_answer(module, job)
        _execute("tests", test_code, module)
    except LoadFailure as failure:
        _report_load_failure(failure)
        library.bw_close(missing)
        return
    sys.modules[MODULE_NAME] = module
    test_class = library.bw_take()
    if test_class is None:
        library.bw_close(missing)
        return
    _look_for_additions(test_class, expected)
    if not job["calls_own_tests"]:
        _hide_tests(test_class, expected, library.bw_note)
    watch = (prepared["known"], "ANY" in job["tests"], library.bw_note, "addTypeEqualityFunc" in job["tests"])
    pinned = machinery.pinned_class(test_class, prepared["methods"], watch)

    def after(case):
        if machinery.shadowed(case):
            library.bw_note("the running test was given other methods")
        for name in machinery.canaries(pinned, job["assertions"]):
            library.bw_note("%s did not fail where it must" % name)

    def at_end():
        for name in machinery.impostors(prepared["known"], prepared["trusted"]):
            library.bw_note("class %s equals everything" % name)

    library.bw_run(pinned, test_class, (after, describe, at_end, missing))


def _planned(test_id, job, expected):
    name = test_id.rpartition(".")[2]
    return test_id, name, expected.get(name), test_id in job["decorated"], test_id in job["may_skip"]


def _new_module():
    import builtins

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
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        raise LoadFailure(phase, error) from error


def _load_answer(module, job):
    answer_code = _compile("answer", job["code"], "answer.py")
    name = job["entry_point"]
    placeholder = None
    if job["stub"] is not None:
        _execute("stub", _compile("stub", job["stub"], "stub.py"), module)
        placeholder = module.__dict__.get(name)
    gc.enable()
    _execute("answer", answer_code, module)
    found = module.__dict__.get(name)
    if found is None or found is placeholder:
        raise LoadFailure("entry_point", NameError("the answer does not define %s" % name))
    if not callable(found):
        raise LoadFailure("entry_point", TypeError("%s is not callable" % name))


def _look_for_additions(test_class, expected):
    """Note functions in the test class that its source does not hold."""
    codes = {id(code) for code in expected.values()}
    for name, value in list(vars(test_class).items()):
        foreign = type(value) is FunctionType and id(value.__code__) not in codes
        if foreign and name not in expected and value.__name__ != "<lambda>" and not hasattr(value, "__wrapped__"):
            interference("%s was added to the test class" % name)


def _hide_tests(test_class, expected, note):
    """Put traps where the tests were: an answer that runs them to learn what they expect is noted."""

    def trap(self, *args, **kwargs):
        note("the answer ran a test by itself")
        raise RuntimeError("tests are run by the witness")

    for name in list(vars(test_class)):
        if name.startswith("test") and name in expected:
            setattr(test_class, name, trap)


def _report_load_failure(failure):
    error = failure.error
    line = error.lineno if isinstance(error, SyntaxError) else None
    if line is None:
        for frame, number in traceback.walk_tb(error.__traceback__):
            if frame.f_code.co_filename == "answer.py":
                line = number
    report(
        "load_error",
        {
            "phase": failure.phase,
            "exception": str.__str__(type(error).__name__)[:80],
            "message": _clip(_in_words(error)),
            "line": line if type(line) is int else None,
            "missing_module": _missing_module(error) or None,
        },
    )


def describe(error):
    """``(message, exception name, missing module)`` of what a test raised; three strings."""
    try:
        message = _clip(_format(error))
    except BaseException:
        message = type(error).__name__
    message = message.encode("utf-8", "backslashreplace").decode()
    return message, type(error).__name__[:80], _missing_module(error)


def _in_words(error):
    try:
        return "".join(traceback.format_exception_only(type(error), error)).strip()
    except BaseException:
        return type(error).__name__


def _missing_module(error):
    for _ in range(20):
        if error is None:
            break
        if isinstance(error, ModuleNotFoundError) and type(error.name) is str:
            return error.name.partition(".")[0]
        error = error.__cause__ or error.__context__
    return ""


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


def _format(error):
    """The traceback from the first frame of answer or tests on, without unittest's own frames at the end."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename not in ("answer.py", "tests.py", "stub.py"):
        trace = trace.tb_next
    depth = 0
    step = trace
    while step is not None and "__unittest" not in step.tb_frame.f_globals:
        depth += 1
        step = step.tb_next
    if isinstance(error, unittest.TestCase.failureException):
        return "".join(traceback.format_exception(type(error), error, trace, limit=depth or None))
    return "".join(traceback.format_exception(type(error), error, trace))
