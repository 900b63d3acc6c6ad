"""The witness of unittest, and of runners built on it such as Django's.

``TestCase.run`` is wrapped.  What a test did is read from the result it was given, before and after, and from the
exception of the test method itself, so that a result that keeps failures to itself is noticed.  Tests that run inside
a test are the test's own business; under pytest, pytest reports.
"""

import atexit
import functools
import inspect
import os
import platform
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__unittest = True  # unittest leaves frames with this global out of tracebacks

LISTS = (
    ("errors", "error"),
    ("failures", "failed"),
    ("unexpectedSuccesses", "unexpected_success"),
    ("expectedFailures", "expected_failure"),
    ("skipped", "skipped"),
)
"""Lists of a result, the worst first, and what an entry in them means."""
WATCHED = (
    "case.TestCase.run",
    "case.TestCase.__call__",
    "suite.TestSuite.run",
    "result.TestResult.addError",
    "result.TestResult.addFailure",
    "result.TestResult.addSubTest",
    "result.TestResult.wasSuccessful",
    "runner.TextTestRunner.run",
    "runner.TextTestResult.addError",
    "runner.TextTestResult.addFailure",
)
"""Parts of the standard library that decide what a test did, below ``unittest``."""


CHANGING = ("_classSetupFailed", "_class_cleanups", "__abstractmethods__", "__doc__", "__dict__", "__weakref__", "run")
"""Attributes of ``TestCase`` that unittest itself sets while tests run, and ``run``, which is watched above."""
GONE = (None, None)


def arm(unittest: "Any", process: "Any") -> None:
    """Wrap ``TestCase.run``."""
    case = unittest.case.TestCase
    if getattr(case.run, "__globals__", None) is globals():
        return
    watcher = Watcher(unittest, process)
    original = case.run

    @functools.wraps(original)
    def run(self: "Any", result: "Any" = None) -> "Any":
        if not watcher.concerns(result):
            return original(self, result)
        with watcher.watching(self, result):
            return original(self, result)

    case.run = run
    watcher.watched = watched_parts(unittest)


class Watcher:
    """The session of one process; it begins with the first test."""

    def __init__(self, unittest: "Any", process: "Any") -> None:
        self.unittest = unittest
        self.process = process
        self.channel = None  # type: Any
        self.root = os.getcwd()
        self.busy = False
        """Whether a test runs."""
        self.watched = {}  # type: dict[str, Any]
        self.replaced = set()  # type: set[str]

    def concerns(self, result: "Any") -> bool:
        """Whether this is a test of the process's own run."""
        return not self.busy and not self.process.pytest_running and isinstance(result, self.unittest.result.TestResult)

    def watching(self, test: "Any", result: "Any") -> "Test":
        """A context in which one test runs, and is reported when it is over."""
        if self.channel is None:
            self.begin()
        return Test(self, test, result)

    def begin(self) -> None:
        """Announce the session, and close it at the end of the process."""
        self.channel = self.process.channel("unittest", platform.python_version(), self.root)
        if not is_standard(self.unittest):
            self.channel.interference("unittest was imported from elsewhere than the standard library")
        atexit.register(self.end)

    def end(self) -> None:
        """Close the session; Python does not say here which exit status the process will have."""
        try:
            self.compare()
            self.channel.close(None)
        except Exception:
            pass

    def compare(self) -> None:
        """Say which watched parts are not what they were, each once; also after each test, for some put them back."""
        now = watched_parts(self.unittest)
        for part in sorted(now.keys() | self.watched.keys()):
            value, before = now.get(part, GONE), self.watched.get(part, GONE)
            if part not in self.replaced and (value[0] is not before[0] or value[1] is not before[1]):
                self.replaced.add(part)
                self.channel.interference("unittest." + part + " was replaced while the tests ran")


class Test:
    """One test while it runs."""

    def __init__(self, watcher: Watcher, test: "Any", result: "Any") -> None:
        self.watcher = watcher
        self.test = test
        self.result = result
        self.before = lengths(result)
        self.method = None  # type: Any
        self.called = False
        self.raised = None  # type: BaseException | None

    def __enter__(self) -> None:
        self.watcher.busy = True
        try:
            self.wrap()
        except Exception:
            pass

    def __exit__(self, kind: "Any", error: "Any", trace: "Any") -> None:
        self.watcher.busy = False
        try:
            self.unwrap()
            self.watcher.compare()
            if kind is None:
                self.watcher.channel.test(names_of(self.test), *self.outcome())
        except Exception:
            pass

    def wrap(self) -> None:
        """Put a function in front of the test method, unless it is a coroutine's, which unittest calls otherwise."""
        name = self.test._testMethodName
        method = getattr(self.test, name)
        if name in vars(self.test) or inspect.iscoroutinefunction(method):
            return

        @functools.wraps(method)
        def called(*args: "Any", **kwargs: "Any") -> "Any":
            self.called = True
            try:
                return method(*args, **kwargs)
            except BaseException as error:
                self.raised = error
                raise

        setattr(self.test, name, called)
        self.method = called

    def unwrap(self) -> None:
        """Take the function away again."""
        name = self.test._testMethodName
        if self.method is not None and vars(self.test).get(name) is self.method:
            delattr(self.test, name)

    def outcome(self) -> "tuple[str, str]":
        """The outcome and a remark."""
        after = lengths(self.result)
        for name, outcome in LISTS:
            if after[name] > self.before[name]:
                return outcome, ""
        if self.raised is not None and not isinstance(self.raised, self.watcher.unittest.case.SkipTest):
            return "failed", "the result does not tell of a " + type(self.raised).__name__
        if self.method is not None and not self.called:
            return "error", "the test method was not called"
        return ("passed", "") if self.raised is None else ("skipped", "")


def lengths(result: "Any") -> "dict[str, int]":
    """How long each list of a result is."""
    return {name: len(getattr(result, name, ())) for name, _ in LISTS}


def names_of(test: "Any") -> "list[str]":
    """The id and what verbose logs call the test: Python 3.11 repeats the method, a docstring has a line of its own."""
    method = str(test._testMethodName)
    kind = type(test)
    place = kind.__module__ + "." + kind.__qualname__
    names = [method + " (" + place + ")", method + " (" + place + "." + method + ")", str(test)]
    names += first_lines(getattr(test, "_testMethodDoc", None))
    try:
        names += first_lines(test.shortDescription())
    except Exception:
        pass
    return names


def first_lines(text: "Any") -> "list[str]":
    """The first line of a docstring as Pythons show it, and the part of it that SWE-bench's parser takes for a name."""
    if not isinstance(text, str):
        return []
    lines = [text.split("\n")[0].strip(), text.strip().split("\n")[0].strip()]
    return [name for line in lines for name in (line, line.split(" ... ")[0]) if name]


def watched_parts(unittest: "Any") -> "dict[str, Any]":
    """The watched parts with their code."""
    parts = {}
    for path in WATCHED:
        part = unittest
        for name in path.split("."):
            part = getattr(part, name, None)
        parts[path] = (part, getattr(part, "__code__", None))
    # All of TestCase, as its class has it: an assertion that asserts nothing lets every test pass.
    for name, part in vars(unittest.case.TestCase).items():
        if name not in CHANGING:
            parts["case.TestCase." + name] = (part, getattr(part, "__code__", None))
    return parts


def is_standard(unittest: "Any") -> bool:
    """Whether unittest comes from the folder of the standard library."""
    library = os.path.dirname(os.path.abspath(sys.modules["os"].__file__ or ""))
    return bool(os.path.dirname(os.path.dirname(os.path.abspath(unittest.__file__))) == library)
