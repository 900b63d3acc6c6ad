"""The witness of pytest (3.3 and newer): a plugin on the first configuration of the process.

What a test did is taken from the exceptions of its phases: where they leave the test, before any other hook sees them,
and again where pytest makes a report of them.  A report that hooks have rewritten can make a test worse here, never
better.  Sessions inside a session of the same process are tests of pytest itself and are left alone.  With xdist the
workers report, and the session of their controller ends with no tests.
"""

import functools
import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Generator, TypeVar

    Hook = TypeVar("Hook", bound=Callable[..., Generator[None, Any, None]])

NAME = "benchwright_witness"
WATCHED = (
    ("_pytest.runner", "runtestprotocol"),
    ("_pytest.runner", "call_and_report"),
    ("_pytest.runner", "call_runtest_hook"),
    ("_pytest.runner", "pytest_runtest_protocol"),
    ("_pytest.runner", "pytest_runtest_setup"),
    ("_pytest.runner", "pytest_runtest_call"),
    ("_pytest.runner", "pytest_runtest_makereport"),
    ("_pytest.runner", "CallInfo"),
    ("_pytest.runner", "TestReport"),
    ("_pytest.reports", "TestReport"),
    ("_pytest.python", "pytest_pyfunc_call"),
    ("_pytest.python", "Function.runtest"),
    ("_pytest.unittest", "TestCaseFunction.addError"),
    ("_pytest.unittest", "TestCaseFunction.addFailure"),
)
"""Parts of pytest that decide what a test did and that no plugin replaces for longer than one test."""


def arm(module: "Any", process: "Any") -> None:
    """Have each configuration that is made outside of a session carry the plugin."""
    original = module.Config.__init__

    @functools.wraps(original)
    def init(self: "Any", *args: "Any", **kwargs: "Any") -> None:
        original(self, *args, **kwargs)
        if process.pytest_running:
            return
        try:
            self.pluginmanager.register(Plugin(self, process), NAME)
        except Exception:
            pass

    module.Config.__init__ = init


def hook(**options: bool) -> "Callable[[Hook], Hook]":
    """Mark a function as an implementation of pytest's hook of its name, as ``pytest.hookimpl`` does."""

    def mark(function: "Hook") -> "Hook":
        marks = {"hookwrapper": True, "optionalhook": False, "tryfirst": False, "trylast": False}
        marks.update(options)
        function.pytest_impl = marks  # type: ignore[attr-defined]
        return function

    return mark


class Item:
    """What was seen of one test."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget an earlier attempt: the last of several repetitions counts."""
        self.inner = {}  # type: dict[str, Any]
        """Exception by phase, as it left the test and its fixtures."""
        self.outer = {}  # type: dict[str, Any]
        """Exception or None by phase, as it came to the making of the report."""
        self.reports = {}  # type: dict[str, Any]
        """(outcome, whether an expected failure) by phase, as the hooks made it."""
        self.told = ""
        """The worst that the terminal was told."""


class Plugin:
    """Sees the tests of one configuration."""

    def __init__(self, config: "Any", process: "Any") -> None:
        self.config = config
        self.process = process
        self.session = None  # type: Any
        self.channel = None  # type: Any
        self.item = None  # type: Item | None
        self.watched = {}  # type: dict[str, Any]

    @hook(tryfirst=True)
    def pytest_load_initial_conftests(self) -> "Generator[None, Any, None]":
        self.watched = watched_parts()
        yield

    @hook(tryfirst=True)
    def pytest_sessionstart(self, session: "Any") -> "Generator[None, Any, None]":
        self.session = session
        self.process.pytest_running = True
        quietly(self.open)
        yield

    @hook(tryfirst=True)
    def pytest_runtest_protocol(self, item: "Any") -> "Generator[None, Any, None]":
        self.item = Item()
        yield
        quietly(self.report, item)
        self.item = None

    @hook(trylast=True)
    def pytest_runtest_setup(self, item: "Any") -> "Generator[None, Any, None]":
        if self.item is not None:
            self.item.begin()
        outcome = yield
        self.saw("setup", outcome)

    @hook(trylast=True)
    def pytest_runtest_call(self, item: "Any") -> "Generator[None, Any, None]":
        outcome = yield
        self.saw("call", outcome)
        quietly(self.saw_test_case, item)

    @hook(trylast=True)
    def pytest_pyfunc_call(self) -> "Generator[None, Any, None]":
        outcome = yield
        self.saw("call", outcome)

    @hook(trylast=True)
    def pytest_runtest_teardown(self) -> "Generator[None, Any, None]":
        outcome = yield
        self.saw("teardown", outcome)

    @hook(tryfirst=True)
    def pytest_runtest_makereport(self, call: "Any") -> "Generator[None, Any, None]":
        quietly(self.saw_phase, call)
        outcome = yield
        quietly(self.saw_report, call.when, outcome)

    @hook(tryfirst=True)
    def pytest_runtest_logreport(self, report: "Any") -> "Generator[None, Any, None]":
        quietly(self.saw_told, report)
        yield

    @hook(tryfirst=True)
    def pytest_unconfigure(self) -> "Generator[None, Any, None]":
        if self.channel is not None:
            quietly(self.close)
            self.channel = None
            self.process.pytest_running = False
        yield

    def open(self) -> None:
        """Begin the session."""
        self.channel = self.process.channel("pytest", version(), root_of(self.config))
        if shadowed():
            self.channel.interference("pytest was imported from elsewhere although one is installed")

    def saw(self, when: str, outcome: "Any") -> None:
        """Keep the exception of a phase, where there was one."""
        exception = exception_of(outcome.excinfo)
        if exception is not None and self.item is not None:
            self.item.inner.setdefault(when, exception)

    def saw_test_case(self, item: "Any") -> None:
        """Keep the exception of a ``unittest`` case: pytest stores it on the item until the report is made."""
        stored = getattr(item, "_excinfo", None)
        if stored and self.item is not None:
            self.item.inner["call"] = exception_of(stored[0])

    def saw_phase(self, call: "Any") -> None:
        """Keep what a phase came to; an exception stays when a later report of the same phase has none (subtests)."""
        exception = exception_of(call.excinfo)
        if self.item is not None and self.item.outer.get(call.when) is None:
            self.item.outer[call.when] = exception

    def saw_report(self, when: str, outcome: "Any") -> None:
        """Keep what the hooks made of a phase."""
        if self.item is not None and outcome.excinfo is None:
            report = outcome.get_result()
            self.item.reports[when] = (str(report.outcome), hasattr(report, "wasxfail"))

    def saw_told(self, report: "Any") -> None:
        """Keep the worst that the terminal was told."""
        if self.item is not None and (report.outcome == "failed" or self.item.told in ("", "passed")):
            self.item.told = str(report.outcome)

    def report(self, item: "Any") -> None:
        """Report a test that ran to its end."""
        found = outcome_of(self.item) if self.item is not None else None
        if found is not None and self.channel is not None:
            outcome, detail = found
            self.channel.test(names_of(item.nodeid, self.config), outcome, detail)

    def close(self) -> None:
        """End the session."""
        for part, value in watched_parts().items():
            if part in self.watched and not same(self.watched[part], value):
                self.channel.interference(part + " was replaced while the tests ran")
        self.channel.close(status_of(self.session))


def quietly(function: "Any", *args: "Any") -> None:
    """Call a function that meets objects of strangers; what it raises is not the runner's business."""
    try:
        function(*args)
    except Exception:
        pass


def exception_of(excinfo: "Any") -> "Any":
    """The exception in pytest's ``ExceptionInfo`` or in a triple as ``sys.exc_info()`` gives it; None for None."""
    if excinfo is None:
        return None
    if hasattr(excinfo, "value"):
        return excinfo.value
    return excinfo[1] if excinfo[1] is not None else excinfo[0]


def outcome_of(seen: Item) -> "tuple[str, str] | None":
    """The outcome of a test and a remark, or None when it did not run to its end."""
    if "setup" not in seen.outer or "teardown" not in seen.outer:
        return None
    remarks = []  # type: list[str]
    setup = phase_outcome(seen, "setup", "error", remarks)
    teardown = phase_outcome(seen, "teardown", "error", remarks)
    call = phase_outcome(seen, "call", "failed", remarks) if "call" in seen.outer else None
    if setup == "passed" and call is None:
        return None
    outcome = setup if call is None or setup != "passed" else call
    if teardown != "passed" and outcome != "failed":
        outcome = teardown
    told = {"passed": "passed", "unexpected_success": "passed", "failed": "failed", "error": "failed"}
    if seen.told and seen.told != told.get(outcome, "skipped"):
        remarks.append("the terminal was told " + seen.told)
    return outcome, "; ".join(remarks)


def phase_outcome(seen: Item, when: str, failure: str, remarks: "list[str]") -> str:
    """What came of a phase; ``failure`` is the word for an exception in it."""
    exception = seen.outer[when]
    reported, expected = seen.reports.get(when, ("", False))
    if exception is None and seen.inner.get(when) is not None:
        exception = seen.inner[when]
        if reported == "passed":  # pytest itself keeps the exceptions of unittest's cases apart, and reports them
            remarks.append("a hook hid an exception of the test's " + when)
    if exception is None:
        if reported == "passed":
            return "unexpected_success" if expected and when == "call" else "passed"
        return "skipped" if reported == "skipped" and not expected else failure
    if is_skip(exception):
        return "skipped"
    if expected and reported == "skipped":
        return "expected_failure"
    remarks.append(type(exception).__name__)
    return failure


def is_skip(exception: "Any") -> bool:
    """Whether it is what pytest takes for a skip: its own exception or ``unittest.SkipTest``."""
    own = getattr(getattr(sys.modules.get("pytest"), "skip", None), "Exception", None)
    other = getattr(sys.modules.get("unittest"), "SkipTest", None)
    return any(kind is not None and isinstance(exception, kind) for kind in (own, other))


def names_of(nodeid: str, config: "Any") -> "list[str]":
    """The id, and what the log parsers of SWE-bench make of the line that lists it (4.1.0, ``log_parsers.python``)."""
    spellings = [nodeid, nodeid.replace("::()::", "::")]
    try:
        spellings.append(config.cwd_relative_nodeid(nodeid))
    except Exception:
        pass
    spellings += [text.replace("MouseButton.LEFT", "1").replace("MouseButton.RIGHT", "3") for text in spellings]
    names = [nodeid]
    for text in ("".join(spelling.split(None, 1)[:1]) for spelling in spellings):
        names += [text, shortened_option(text), re.sub("\\[[0-9]+m", "", text)]
    return [name for name in names if name]


def shortened_option(name: str) -> str:
    """An id whose parameter is a path, with that path's last part only."""
    found = re.match(r"(.*?)\[(.*)\]", name)
    if found is None:
        return name
    test, option = found.groups()
    if not option.startswith("/") or option.startswith("//") or "*" in option:
        return name
    return test + "[/" + option.split("/")[-1] + "]"


def watched_parts() -> "dict[str, Any]":
    """The watched parts of an installed pytest, with their code; none when pytest is what is being tested."""
    parts = {}  # type: dict[str, Any]
    if not is_installed(own_place()):
        return parts
    for module_name, path in WATCHED:
        part = sys.modules.get(module_name)  # type: Any
        for attribute in path.split("."):
            part = getattr(part, attribute, None)
        if part is not None:
            parts[module_name + "." + path] = (part, getattr(part, "__code__", None))
    return parts


def same(before: "Any", after: "Any") -> bool:
    """Whether two parts with their code are the same objects."""
    return before[0] is after[0] and before[1] is after[1]


def shadowed() -> bool:
    """Whether pytest comes from elsewhere although one is installed."""
    return not is_installed(own_place()) and any(
        is_installed(place) and os.path.isdir(os.path.join(place, "_pytest")) for place in sys.path
    )


def own_place() -> str:
    """The folder that pytest was imported from."""
    path = os.path.abspath(sys.modules["_pytest.config"].__file__ or "")
    while os.path.basename(path) not in ("_pytest", ""):
        path = os.path.dirname(path)
    return os.path.dirname(path)


def is_installed(place: str) -> bool:
    """Whether a folder is one that installers fill."""
    return os.path.basename(place) in ("site-packages", "dist-packages")


def version() -> str:
    """Version of pytest, as it names it itself."""
    return str(getattr(sys.modules.get("pytest"), "__version__", ""))


def root_of(config: "Any") -> str:
    """The root folder to which node ids are relative."""
    root = getattr(config, "rootpath", None)
    return str(config.rootdir if root is None else root)


def status_of(session: "Any") -> "int | None":
    """The exit status of a session."""
    try:
        return int(session.exitstatus)
    except Exception:
        return None
