"""The witnesses of test runners, in real runs by the interpreter's own pytest and unittest, honest and hostile."""

import ast
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import _pytest
import pytest

import benchwright_guest.witnesses
from benchwright.answers.inversion import sabotage
from benchwright.execution.reports import PTH_NAME, Collected, ReportCollector, pth_text, site_packages_command

PYTEST = ("-m", "pytest", "-rA", "-p", "no:cacheprovider")
UNITTEST = ("-m", "unittest", "-v")
WITNESSES = sorted(Path(benchwright_guest.witnesses.__file__).parent.glob("*.py"))


@dataclass(frozen=True)
class Run:
    """What a test run showed, and what its witness said."""

    exit_status: int
    output: str
    said: Collected

    @property
    def outcomes(self) -> dict[str, str]:
        """Outcome by id."""
        return {report.id: report.outcome.value for report in self.said.reports}

    def detail(self, id: str) -> str:
        """Remark on a test."""
        return next(report.detail for report in self.said.reports if report.id == id)


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write source files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")


def environment(extra: Iterable[Path]) -> dict[str, str]:
    """Variables of a run: none of those that pytest sets for itself."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, extra)), "LC_ALL": "C.UTF-8"}


def run(tmp_path: Path, files: Mapping[str, str], command: Iterable[str]) -> Run:
    """Run a command of Python in a folder with these files, every Python of it with the witness's line loaded."""
    project, site = tmp_path / "project", tmp_path / "site"
    write(project, {"pytest.ini": "[pytest]\n", **files})
    with ReportCollector() as collector:
        # As in an environment's site-packages: the folder is read at each start of Python.
        write(site, {PTH_NAME: pth_text(str(collector.folder))})
        write(site, {"sitecustomize.py": f"import site; site.addsitedir({str(site)!r})"})
        # An inner pytest would close the temporary folder of the outer one to other users.
        variables = {**environment([site]), "PYTEST_DEBUG_TEMPROOT": str(tmp_path)}
        done = subprocess.run([sys.executable, *command], cwd=project, env=variables, capture_output=True, text=True)
        return Run(done.returncode, done.stdout + done.stderr, collector.finish())


OUTCOMES = """
    import unittest
    import pytest

    @pytest.fixture
    def broken():
        raise RuntimeError("broken")

    @pytest.fixture
    def late():
        yield
        raise RuntimeError("late")

    def test_passes(): pass
    def test_fails(): assert 1 == 2
    def test_setup_raises(broken): pass
    def test_teardown_raises(late): pass
    def test_fails_and_teardown_raises(late): assert 1 == 2
    @pytest.mark.skip
    def test_marked_skip(): pass
    def test_skips(): pytest.skip("no")
    @pytest.mark.xfail
    def test_expected(): assert 0
    @pytest.mark.xfail
    def test_unexpected(): pass
    @pytest.mark.xfail(strict=True)
    def test_strictly_unexpected(): pass
    @pytest.mark.xfail(raises=ValueError)
    def test_other_than_expected(): raise KeyError
    @pytest.mark.xfail(run=False)
    def test_not_run(): pass
    def test_gives_up(): pytest.xfail("for now")

    class TestCase(unittest.TestCase):
        def test_passes(self): pass
        def test_fails(self): self.assertEqual(1, 2)
        def test_raises(self): raise KeyError
        def test_skips(self): self.skipTest("no")
        @unittest.expectedFailure
        def test_expected(self): self.fail()
        @unittest.expectedFailure
        def test_unexpected(self): pass
"""


def test_pytest_outcomes(tmp_path: Path) -> None:
    """Every way in which a test can end under pytest, plain functions and unittest's cases."""
    seen = run(tmp_path, {"test_a.py": OUTCOMES}, PYTEST)
    assert {id.removeprefix("test_a.py::"): outcome for id, outcome in seen.outcomes.items()} == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_setup_raises": "error",
        "test_teardown_raises": "error",
        "test_fails_and_teardown_raises": "failed",
        "test_marked_skip": "skipped",
        "test_skips": "skipped",
        "test_expected": "expected_failure",
        "test_unexpected": "unexpected_success",
        "test_strictly_unexpected": "failed",
        "test_other_than_expected": "failed",
        "test_not_run": "expected_failure",
        "test_gives_up": "expected_failure",
        "TestCase::test_passes": "passed",
        "TestCase::test_fails": "failed",
        "TestCase::test_raises": "failed",
        "TestCase::test_skips": "skipped",
        "TestCase::test_expected": "expected_failure",
        "TestCase::test_unexpected": "failed",
    }
    assert seen.said.errors == ()


def test_pytest_session(tmp_path: Path) -> None:
    """A run is one session, closed with pytest's exit status; unittest's cases in it begin no other."""
    seen = run(tmp_path, {"test_a.py": OUTCOMES}, PYTEST)
    (session,) = seen.said.sessions
    assert (session.runner, session.version) == ("pytest", pytest.__version__)
    assert Path(session.root).resolve() == (tmp_path / "project").resolve()
    assert session.closed
    assert (session.exit_status, session.tests) == (seen.exit_status, len(seen.said.reports))


def test_spellings_of_pytest_ids(tmp_path: Path) -> None:
    """Besides the node id there is what log parsers make of it: cut at a blank, a path's last part, no colours."""
    source = """
        import pytest

        @pytest.mark.parametrize("value", ["(1, 2)", "/a/b/c", "[33mx", "MouseButton.LEFT-1"])
        def test_value(value): pass
    """
    seen = run(tmp_path, {"tests/test_a.py": source}, PYTEST)
    names = {report.id: report.names[1:] for report in seen.said.reports}
    test = "tests/test_a.py::test_value"
    assert names == {
        f"{test}[(1, 2)]": (f"{test}[(1,",),
        f"{test}[/a/b/c]": (f"{test}[/c]",),
        f"{test}[[33mx]": (f"{test}[x]",),
        f"{test}[MouseButton.LEFT-1]": (f"{test}[1-1]",),
    }


def test_a_collection_error_closes_a_session_without_tests(tmp_path: Path) -> None:
    """Nothing is said of tests that could not be collected."""
    seen = run(tmp_path, {"test_a.py": "def test_a(: pass", "test_b.py": "def test_b(): pass"}, PYTEST)
    (session,) = seen.said.sessions
    assert (session.closed, session.exit_status, session.tests) == (True, 2, 0)


def test_inner_sessions_of_other_processes_have_their_own_root(tmp_path: Path) -> None:
    """pytest's own tests start pytest elsewhere: such tests are told apart by the root of their session."""
    source = """
        import subprocess, sys

        def test_outer(tmp_path):
            (tmp_path / "pytest.ini").write_text("[pytest]")
            (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0")
            assert subprocess.run([sys.executable, "-m", "pytest"], cwd=tmp_path).returncode == 1
    """
    seen = run(tmp_path, {"test_a.py": source}, PYTEST)
    roots = {session.session: session.root for session in seen.said.sessions}
    assert len(set(roots.values())) == 2
    assert seen.outcomes == {"test_a.py::test_outer": "passed", "test_inner.py::test_inner": "failed"}


def test_inner_sessions_of_the_same_process_are_left_alone(tmp_path: Path) -> None:
    """Neither pytest nor unittest inside a pytest test says anything."""
    source = """
        import unittest
        import pytest

        def test_outer(tmp_path):
            (tmp_path / "pytest.ini").write_text("[pytest]")
            (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0")
            assert pytest.main([str(tmp_path)]) == 1
            class Case(unittest.TestCase):
                def test_case(self): self.fail()
            assert len(unittest.TestSuite([Case("test_case")]).run(unittest.TestResult()).failures) == 1
    """
    seen = run(tmp_path, {"test_a.py": source}, PYTEST)
    assert seen.outcomes == {"test_a.py::test_outer": "passed"}
    assert len(seen.said.sessions) == 1


def test_a_run_without_a_collector_is_as_ever(tmp_path: Path) -> None:
    """Where there is no socket, the line in site-packages changes nothing."""
    site = tmp_path / "site"
    write(site, {PTH_NAME: pth_text(str(tmp_path / "absent"))})
    code = (
        f"import site, sys; before = [*sys.meta_path]; site.addsitedir({str(site)!r}); print(sys.meta_path == before)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment([]), capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("True\n", "")


# -- Hostile repositories under pytest: each holds a failing test ------------------------------------------------------

FAILING = "def test_required(): assert 1 == 2"
REWRITES_REPORTS = """
    import pytest

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(item, call):
        outcome = yield
        report = outcome.get_result()
        report.outcome, report.longrepr = "passed", None
"""
FORGETS_THE_EXCEPTION = """
    import pytest

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(item, call):
        call.excinfo = None
        yield
"""
SWALLOWS_AROUND_THE_CALL = """
    import pytest

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(item):
        outcome = yield
        outcome.force_result(None)
"""
SWALLOWS_AROUND_THE_FUNCTION = """
    import pytest

    @pytest.hookimpl(hookwrapper=True)
    def pytest_pyfunc_call(pyfuncitem):
        outcome = yield
        outcome.force_result(True)
"""
EXPECTS_EVERY_FAILURE = """
    import pytest

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        outcome = yield
        report = outcome.get_result()
        if report.failed:
            report.outcome, report.wasxfail = "skipped", "as expected"
"""
CALLS_FAILURES_UNEXPECTED_PASSES = """
    import pytest

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(item, call):
        outcome = yield
        report = outcome.get_result()
        report.outcome, report.wasxfail = "passed", "a surprise"
"""
SILENCES_THE_LOG = """
    import sys

    def pytest_terminal_summary(terminalreporter):
        terminalreporter.stats.clear()
        terminalreporter.write_line("PASSED test_a.py::test_required")

    def pytest_sessionfinish(session):
        session.exitstatus = 0
"""


@pytest.mark.parametrize(
    "conftest",
    [
        REWRITES_REPORTS,
        FORGETS_THE_EXCEPTION,
        SWALLOWS_AROUND_THE_CALL,
        SWALLOWS_AROUND_THE_FUNCTION,
        EXPECTS_EVERY_FAILURE,
        CALLS_FAILURES_UNEXPECTED_PASSES,
        SILENCES_THE_LOG,
    ],
    ids=lambda text: text.strip().splitlines()[-1].strip(),
)
def test_a_failure_that_hooks_hide_is_reported(tmp_path: Path, conftest: str) -> None:
    """pytest itself lists no failure; the witness does not report the test as passed."""
    seen = run(tmp_path, {"conftest.py": conftest, "test_a.py": FAILING}, PYTEST)
    assert "FAILED test_a" not in seen.output
    assert seen.outcomes["test_a.py::test_required"] in ("failed", "expected_failure")
    assert len(seen.said.reports) == 1


def test_what_the_terminal_was_told_instead_is_a_remark(tmp_path: Path) -> None:
    """The remark says what pytest was made to believe, and that a hook hid the exception."""
    seen = run(tmp_path, {"conftest.py": SWALLOWS_AROUND_THE_CALL, "test_a.py": FAILING}, PYTEST)
    assert "hid an exception" in seen.detail("test_a.py::test_required")
    assert "told passed" in seen.detail("test_a.py::test_required")


def test_a_replaced_runner_is_interference(tmp_path: Path) -> None:
    """Functions of the runner that are others at the end than before the conftest files are named."""
    conftest = """
        import _pytest.runner

        original = _pytest.runner.call_and_report
        _pytest.runner.call_and_report = lambda *args, **kwargs: original(*args, **kwargs)
    """
    seen = run(tmp_path, {"conftest.py": conftest, "test_a.py": "def test_a(): pass"}, PYTEST)
    assert seen.said.errors == ("session 0: _pytest.runner.call_and_report was replaced while the tests ran",)


def test_swapped_code_is_interference(tmp_path: Path) -> None:
    """The same function with other code in it is found too."""
    conftest = """
        import _pytest.runner

        def pytest_runtest_call(item): pass
        _pytest.runner.pytest_runtest_call.__code__ = pytest_runtest_call.__code__
        del pytest_runtest_call
    """
    seen = run(tmp_path, {"conftest.py": conftest, "test_a.py": FAILING}, PYTEST)
    assert any("pytest_runtest_call was replaced" in error for error in seen.said.errors)


def test_printed_results_are_not_reports(tmp_path: Path) -> None:
    """Lines in the log, markers included, reach no witness."""
    conftest = """
        import atexit
        atexit.register(print, "PASSED test_a.py::test_required")
        print("PASSED test_a.py::test_required")
    """
    seen = run(tmp_path, {"conftest.py": conftest, "test_a.py": FAILING}, (*PYTEST, "-s"))
    assert seen.output.count("PASSED test_a.py::test_required") == 2
    assert seen.outcomes == {"test_a.py::test_required": "failed"}


def test_a_process_that_leaves_is_not_closed(tmp_path: Path) -> None:
    """After os._exit with status 0, what was reported stands, the rest is missing, and the session is open."""
    source = """
        import os

        def test_one(): pass
        def test_two(): os._exit(0)
        def test_three(): assert 0
    """
    seen = run(tmp_path, {"test_a.py": source}, PYTEST)
    assert seen.exit_status == 0
    assert seen.outcomes == {"test_a.py::test_one": "passed"}
    assert not seen.said.sessions[0].closed


def test_a_protocol_of_the_repositorys_own_is_silence(tmp_path: Path) -> None:
    """Tests that a conftest passes by without running them are not reported, whatever it logs for them."""
    conftest = """
        from _pytest.reports import TestReport

        def pytest_runtest_protocol(item, nextitem):
            for when in ("setup", "call", "teardown"):
                report = TestReport(item.nodeid, item.location, {}, "passed", None, when)
                item.ihook.pytest_runtest_logreport(report=report)
            return True
    """
    seen = run(tmp_path, {"conftest.py": conftest, "test_a.py": FAILING}, PYTEST)
    assert "PASSED test_a.py::test_required" in seen.output
    assert seen.outcomes == {}


def test_a_witness_that_was_put_out_is_silent(tmp_path: Path) -> None:
    """Unregistering the plugin ends the reports, and the session is never closed."""
    conftest = """
        def pytest_collection_modifyitems(config):
            config.pluginmanager.unregister(name="benchwright_witness")
    """
    seen = run(tmp_path, {"conftest.py": conftest, "test_a.py": FAILING}, PYTEST)
    assert seen.outcomes == {}
    assert not seen.said.sessions[0].closed


def test_another_process_cannot_take_a_report_back(tmp_path: Path) -> None:
    """Whoever finds the socket can add lines of its own session; the failing report stays beside them."""
    forger = """
        import json, socket, sys

        test = "test_a.py::test_required"
        client = socket.socket(socket.AF_UNIX)
        client.connect(sys.argv[1])
        for line in (
            {"session": {"runner": "pytest", "version": "1", "root": "/testbed"}},
            {"test": test, "names": [test], "outcome": "passed", "detail": ""},
            {"closed": {"tests": 1, "status": 0}},
        ):
            client.sendall(json.dumps(line).encode() + b"\\n")
    """
    source = """
        import os, pathlib, subprocess, sys

        def test_required():
            line = next(pathlib.Path(os.environ["PYTHONPATH"]).glob("*.pth")).read_text()
            place = line.split("exists('")[1].split("')")[0]
            subprocess.run([sys.executable, "forger.py", place], check=True)
            assert 1 == 2
    """
    seen = run(tmp_path, {"forger.py": forger, "test_a.py": source}, PYTEST)
    assert sorted(report.outcome.value for report in seen.said.reports) == ["failed", "passed"]
    assert {report.id for report in seen.said.reports} == {"test_a.py::test_required"}


def test_a_shadow_of_pytest_is_not_the_runner(tmp_path: Path) -> None:
    """A pytest.py in the repository that prints what is wanted has no session at all."""
    shadow = "print('PASSED test_a.py::test_required')"
    seen = run(tmp_path, {"pytest.py": shadow, "test_a.py": FAILING}, PYTEST)
    assert "PASSED" in seen.output
    assert seen.said.sessions == ()


def test_a_copy_of_pytest_is_interference(tmp_path: Path) -> None:
    """A runner of the candidate's own, from the repository, is recognised beside the installed one."""
    shutil.copytree(Path(_pytest.__file__).parent, tmp_path / "project" / "_pytest")
    seen = run(tmp_path, {"test_a.py": "def test_a(): pass"}, PYTEST)
    assert seen.outcomes == {"test_a.py::test_a": "passed"}
    assert seen.said.errors == ("session 0: pytest was imported from elsewhere although one is installed",)


def test_a_connection_that_tests_close_breaks_nothing(tmp_path: Path) -> None:
    """A test that closes all descriptors it does not know silences the witness; pytest goes on as ever."""
    source = """
        import os

        def test_closes(): os.closerange(100, 200)
        def test_after(): pass
    """
    seen = run(tmp_path, {"test_a.py": source}, PYTEST)
    assert seen.exit_status == 0
    assert seen.outcomes == {}
    assert not seen.said.sessions[0].closed


def test_results_without_a_run_show_in_the_sabotaged_twin(tmp_path: Path) -> None:
    """A hook that replaces the call of test functions escapes the witness, but not the failing statements."""
    conftest = """
        def pytest_pyfunc_call(pyfuncitem):
            return True
    """
    required = {"test_a.py::test_required"}
    twin, sabotaged = sabotage(
        "def test_required():\n    assert 1 == 1\n", path="test_a.py", required=required, runner="pytest", number=7
    )
    assert sabotaged == required
    honest = run(tmp_path / "honest", {"test_a.py": twin}, PYTEST)
    forged = run(tmp_path / "forged", {"test_a.py": twin, "conftest.py": conftest}, PYTEST)
    assert honest.outcomes == {"test_a.py::test_required": "failed"}
    assert forged.outcomes == {"test_a.py::test_required": "passed"}


# -- unittest ----------------------------------------------------------------------------------------------------------

CASES = """
    import functools
    import unittest

    class Cases(unittest.TestCase):
        def test_passes(self): pass
        def test_fails(self): self.assertEqual(1, 2)
        def test_raises(self): raise KeyError
        def test_skips(self): self.skipTest("no")
        @unittest.skip("no")
        def test_marked_skip(self): pass
        @unittest.expectedFailure
        def test_expected(self): self.fail()
        @unittest.expectedFailure
        def test_unexpected(self): pass
        def test_subtests(self):
            for number in range(3):
                with self.subTest(number=number):
                    self.assertNotEqual(number, 1)

    class BrokenSetup(unittest.TestCase):
        def setUp(self): raise KeyError
        def test_a(self): pass

    class BrokenTeardown(unittest.TestCase):
        def tearDown(self): raise KeyError
        def test_a(self): pass

    class BrokenClass(unittest.TestCase):
        @classmethod
        def setUpClass(cls): raise KeyError
        def test_a(self): pass

    class Coroutines(unittest.IsolatedAsyncioTestCase):
        async def test_passes(self): pass
        async def test_fails(self): self.fail()
"""


def test_unittest_outcomes(tmp_path: Path) -> None:
    """Every way in which a test can end under unittest; of a class that cannot be set up nothing is said."""
    seen = run(tmp_path, {"test_a.py": CASES}, (*UNITTEST, "test_a"))
    assert seen.outcomes == {
        "test_passes (test_a.Cases)": "passed",
        "test_fails (test_a.Cases)": "failed",
        "test_raises (test_a.Cases)": "error",
        "test_skips (test_a.Cases)": "skipped",
        "test_marked_skip (test_a.Cases)": "skipped",
        "test_expected (test_a.Cases)": "expected_failure",
        "test_unexpected (test_a.Cases)": "unexpected_success",
        "test_subtests (test_a.Cases)": "failed",
        "test_a (test_a.BrokenSetup)": "error",
        "test_a (test_a.BrokenTeardown)": "error",
        "test_passes (test_a.Coroutines)": "passed",
        "test_fails (test_a.Coroutines)": "failed",
    }
    (session,) = seen.said.sessions
    assert (session.runner, session.closed, session.exit_status) == ("unittest", True, None)
    assert Path(session.root).resolve() == (tmp_path / "project").resolve()
    assert seen.said.errors == ()


def test_tracebacks_do_not_show_the_witness(tmp_path: Path) -> None:
    """What unittest prints of a failure begins in the test."""
    seen = run(tmp_path, {"test_a.py": CASES}, (*UNITTEST, "test_a"))
    assert "KeyError" in seen.output
    assert "for_unittest" not in seen.output


def test_names_of_unittest_cases(tmp_path: Path) -> None:
    """Both spellings of Python's versions, and the docstring's first line whole and up to the parser's dots."""
    source = '''
        import unittest

        class Cases(unittest.TestCase):
            def test_a(self):
                """
                Refs #1 ... with dots.

                More.
                """
    '''
    seen = run(tmp_path, {"pkg/__init__.py": "", "pkg/test_a.py": source}, (*UNITTEST, "pkg.test_a"))
    assert seen.said.reports[0].names == (
        "test_a (pkg.test_a.Cases)",
        "test_a (pkg.test_a.Cases.test_a)",
        "Refs #1 ... with dots.",
        "Refs #1",
    )


def test_tests_inside_a_test_are_its_own_business(tmp_path: Path) -> None:
    """Django's tests of its runner run suites that are meant to fail."""
    source = """
        import unittest

        class Outer(unittest.TestCase):
            def test_outer(self):
                class Inner(unittest.TestCase):
                    def test_inner(self): self.fail()
                self.assertFalse(unittest.TestSuite([Inner("test_inner")]).run(unittest.TestResult()).wasSuccessful())
    """
    seen = run(tmp_path, {"test_a.py": source}, (*UNITTEST, "test_a"))
    assert seen.outcomes == {"test_outer (test_a.Outer)": "passed"}


@pytest.mark.parametrize(
    ("attack", "remark"),
    [
        ("unittest.TextTestResult.addFailure = lambda self, test, error: None", "does not tell of a AssertionError"),
        ("unittest.TestCase._callTestMethod = lambda self, method: None", "was not called"),
    ],
)
def test_a_result_that_keeps_failures_to_itself_is_noticed(tmp_path: Path, attack: str, remark: str) -> None:
    """unittest says OK; the witness has seen the exception, or that there was no call."""
    source = f"""
        import unittest
        {attack}

        class Cases(unittest.TestCase):
            def test_required(self): self.fail()
    """
    seen = run(tmp_path, {"test_a.py": source}, (*UNITTEST, "test_a"))
    assert seen.exit_status == 0
    assert seen.outcomes["test_required (test_a.Cases)"] in ("failed", "error")
    assert remark in seen.detail("test_required (test_a.Cases)")


def test_a_replaced_part_of_unittest_is_interference(tmp_path: Path) -> None:
    """A candidate's own TestCase.run is named, and its tests are not reported."""
    source = """
        import unittest

        unittest.TestCase.run = lambda self, result=None: result.addSuccess(self)
        class Cases(unittest.TestCase):
            def test_required(self): self.fail()
    """
    suites = """
        import unittest

        class First(unittest.TestCase):
            def test_a(self): pass

        unittest.TestSuite([First("test_a")]).run(unittest.TestResult())
        unittest.main("test_a")
    """
    seen = run(tmp_path, {"test_a.py": source, "suites.py": suites}, ("suites.py",))
    assert seen.exit_status == 0
    assert list(seen.outcomes) == ["test_a (__main__.First)"]
    assert seen.said.errors == ("session 0: unittest.case.TestCase.run was replaced while the tests ran",)


def test_a_shadow_of_unittest_is_interference(tmp_path: Path) -> None:
    """A copy of unittest in the repository is recognised by its place."""
    code = """
        import shutil, sys, unittest
        shutil.copytree(unittest.__path__[0], "unittest")
    """
    write(tmp_path / "project", {"copy.txt": ""})
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path / "project", check=True)
    seen = run(tmp_path, {"test_a.py": CASES}, (*UNITTEST, "test_a"))
    assert any("elsewhere than the standard library" in error for error in seen.said.errors)


def test_the_line_works_in_a_virtual_environment(tmp_path: Path) -> None:
    """In its site-packages, where Python executes the line twice, a run is witnessed once."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    write(tmp_path / "project", {"test_a.py": CASES})
    python = tmp_path / "venv" / "bin" / "python"
    command = [str(python), *site_packages_command()[1:]]
    site = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    with ReportCollector() as collector:
        write(Path(site), {PTH_NAME: pth_text(str(collector.folder))})
        subprocess.run(
            [python, *UNITTEST, "test_a"], cwd=tmp_path / "project", env=environment([]), capture_output=True
        )
        said = collector.finish()
    assert len(said.sessions) == 1
    assert len(said.reports) == len({report.id for report in said.reports}) == 12


# -- SymPy's runner, by a stand-in with the same seams -----------------------------------------------------------------

RUNTESTS = """
    import os, sys

    class PyTestReporter:
        def __init__(self):
            self.failed = []
        def entering_filename(self, filename, n): print(filename, n)
        def leaving_filename(self): pass
        def entering_test(self, f): print(f.__name__, end=" ")
        def test_xfail(self): print("f")
        def test_xpass(self, v): print("X")
        def test_fail(self, exc_info): self.failed.append(exc_info); print("F")
        def test_pass(self, char="."): print("ok")
        def test_skip(self, v=None): print("s")
        def test_exception(self, exc_info): self.failed.append(exc_info); print("E")
        def import_error(self, filename, exc_info): self.failed.append(exc_info)

    class Skipped(Exception): pass

    class XFail(Exception): pass

    class XPass(Exception): pass

    class SymPyTests:
        def __init__(self, reporter):
            self._reporter = reporter
            self._root_dir = os.getcwd()
            self._testfiles = []
        def test(self):
            for filename in self._testfiles:
                self.test_file(filename)
            return not self._reporter.failed
        def test_file(self, filename):
            names = {}
            try:
                exec(compile(open(filename).read(), filename, "exec"), names)
            except ImportError:
                return self._reporter.import_error(filename, sys.exc_info())
            except Exception:
                self._reporter.test_exception(sys.exc_info())
            tests = [names[name] for name in names if name.startswith("test_")]
            self._reporter.entering_filename(filename, len(tests))
            for test in tests:
                self._reporter.entering_test(test)
                try:
                    test()
                except AssertionError:
                    self._reporter.test_fail(sys.exc_info())
                except Skipped as skipped:
                    self._reporter.test_skip(skipped)
                except XFail:
                    self._reporter.test_xfail()
                except XPass as passed:
                    self._reporter.test_xpass(passed)
                except Exception:
                    self._reporter.test_exception(sys.exc_info())
                else:
                    self._reporter.test_pass()
            self._reporter.leaving_filename()
"""
SYMPY_TESTS = """
    from sympy.testing.runtests import Skipped, XFail, XPass

    def test_passes(): pass
    def test_fails(): assert 1 == 2
    def test_raises(): raise KeyError
    def test_skips(): raise Skipped("Slow")
    def test_expected(): raise XFail
    def test_unexpected(): raise XPass("test_unexpected")
"""


def test_sympy_outcomes(tmp_path: Path) -> None:
    """Every call of the reporter; files that cannot be executed or imported are errors under their own names."""
    names = ("test_a.py", "test_broken.py", "test_absent.py")
    files = {
        "sympy/__init__.py": "__version__ = '1.12'",
        "sympy/testing/__init__.py": "",
        "sympy/testing/runtests.py": RUNTESTS,
        "sympy/core/tests/test_a.py": SYMPY_TESTS,
        "sympy/core/tests/test_broken.py": "1 / 0",
        "sympy/core/tests/test_absent.py": "import there_is_no_such_module",
        "bin/test": f"""
            import os, sys
            sys.path.insert(0, os.getcwd())
            from sympy.testing.runtests import PyTestReporter, SymPyTests
            tests = SymPyTests(PyTestReporter())
            tests._testfiles = [os.path.abspath("sympy/core/tests/" + name) for name in {names!r}]
            sys.exit(int(not tests.test()))
        """,
    }
    seen = run(tmp_path, files, ("bin/test",))
    place = "sympy/core/tests/"
    assert seen.outcomes == {
        f"{place}test_a.py::test_passes": "passed",
        f"{place}test_a.py::test_fails": "failed",
        f"{place}test_a.py::test_raises": "error",
        f"{place}test_a.py::test_skips": "skipped",
        f"{place}test_a.py::test_expected": "expected_failure",
        f"{place}test_a.py::test_unexpected": "unexpected_success",
        f"{place}test_broken.py": "error",
        f"{place}test_absent.py": "error",
    }
    assert seen.said.reports[1].names == (
        f"{place}test_a.py::test_fails",
        "test_fails",
        f"{place}test_a.py:test_fails",
    )
    (session,) = seen.said.sessions
    assert (session.runner, session.version, session.closed) == ("sympy", "1.12", True)
    assert seen.exit_status == 1


# -- The files themselves ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", WITNESSES, ids=lambda path: path.name)
def test_witnesses_are_python_3_5(path: Path) -> None:
    """No construct that newer Pythons brought: environments reach back to 3.5."""
    newer = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.Match, ast.TryStar, ast.AsyncFunctionDef)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, newer)] == []
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments):
            assert not node.posonlyargs
        if isinstance(node, ast.arg) and node.annotation is not None:
            assert isinstance(node.annotation, (ast.Constant, ast.Name)), f"line {node.lineno}: unquoted annotation"


@pytest.mark.parametrize("path", WITNESSES, ids=lambda path: path.name)
def test_witnesses_import_the_standard_library_only(path: Path) -> None:
    """Nothing of the environment, and nothing of the host program."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= sys.stdlib_module_names
        if isinstance(node, ast.ImportFrom):
            assert node.module == "typing"
