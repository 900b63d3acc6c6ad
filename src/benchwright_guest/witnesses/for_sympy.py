"""The witness of SymPy's own runner (``bin/test``, SymPy 1.0 and newer): wraps the methods of its reporter.

The runner is a part of the repository, so this says what the runner decided; whether that was honest shows in the run
with failing statements.
"""

import functools
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OUTCOMES = {
    "test_pass": "passed",
    "test_fail": "failed",
    "test_exception": "error",
    "test_skip": "skipped",
    "test_xfail": "expected_failure",
    "test_xpass": "unexpected_success",
}
"""Method of the reporter, and what its call says of the current test."""


def arm(module: "Any", process: "Any") -> None:
    """Wrap the reporter's methods, and the one that runs the tests of a file."""
    reporter, tests = module.PyTestReporter, module.SymPyTests
    if getattr(tests.test, "benchwright_witness", False):
        return  # the module's old name, which leads to the same classes
    watcher = Watcher(process)
    around(tests, "test", watcher.session)
    around(tests, "test_file", watcher.file)
    around(reporter, "entering_test", watcher.entering)
    around(reporter, "import_error", watcher.import_error)
    for name, outcome in OUTCOMES.items():
        around(reporter, name, functools.partial(watcher.outcome, outcome))
    tests.test.benchwright_witness = True


def around(kind: "Any", name: str, watch: "Any") -> None:
    """Have ``watch`` called with a method's arguments before it; what it returns is called after it."""
    original = getattr(kind, name)

    @functools.wraps(original)
    def method(self: "Any", *args: "Any", **kwargs: "Any") -> "Any":
        after = quietly(watch, self, *args, **kwargs)
        result = original(self, *args, **kwargs)
        if after is not None:
            quietly(after)
        return result

    setattr(kind, name, method)


def quietly(function: "Any", *args: "Any", **kwargs: "Any") -> "Any":
    """Call a function; what it raises is not the runner's business."""
    try:
        return function(*args, **kwargs)
    except Exception:
        return None


class Watcher:
    """Follows the runner from test to test."""

    def __init__(self, process: "Any") -> None:
        self.process = process
        self.channel = None  # type: Any
        self.root = ""
        """The repository."""
        self.path = ""
        """The file whose tests run, relative to the repository."""
        self.function = None  # type: str | None
        """The test that runs."""

    def session(self, tests: "Any", *args: "Any", **kwargs: "Any") -> "Any":
        """A run of test files begins; one that a test begins is that test's business."""
        if self.channel is not None:
            return None
        version = getattr(sys.modules.get("sympy"), "__version__", "")
        self.root = str(tests._root_dir)
        self.channel = self.process.channel("sympy", str(version), os.path.abspath(self.root))
        return self.end

    def end(self) -> None:
        """The run is over; its exit status is not known here."""
        channel, self.channel = self.channel, None
        channel.close(None)

    def file(self, tests: "Any", filename: str, *args: "Any", **kwargs: "Any") -> None:
        """The tests of a file are about to run."""
        self.path = os.path.relpath(filename, self.root)
        self.function = None

    def entering(self, reporter: "Any", function: "Any") -> None:
        """A test is about to run."""
        self.function = str(function.__name__)

    def outcome(self, outcome: str, reporter: "Any", *args: "Any", **kwargs: "Any") -> None:
        """The current test is over; outside of a test, the file could not be executed."""
        detail = kind_of(args[0]) if outcome in ("failed", "error") and args else ""
        function, self.function = self.function, None
        if function is not None:
            names = [self.path + "::" + function, function, self.path + ":" + function]
            self.say(names, outcome, detail)
        elif outcome == "error":
            self.say([self.path], outcome, detail)

    def import_error(self, reporter: "Any", filename: str, exc_info: "Any") -> None:
        """A file could not be imported."""
        self.say([os.path.relpath(filename, self.root)], "error", kind_of(exc_info))

    def say(self, names: "list[str]", outcome: str, detail: str) -> None:
        """Report, when a run of test files is on; doctests use the same reporter."""
        if self.channel is not None:
            self.channel.test(names, outcome, detail)


def kind_of(exc_info: "Any") -> str:
    """Name of the class of an exception that ``sys.exc_info()`` gave."""
    return str(getattr(exc_info[0], "__name__", ""))
