"""Runs trusted benchmark programs, one forked child each, and reports which passed.

Usage: python harness.py JOBS RESULTS. JOBS is a JSON list of objects with ``id``, ``sources`` (executed one
after the other in the same namespace), ``check`` ("tests" or "examples") and ``measure`` (measure branch
coverage of the first source). RESULTS becomes a JSON object from id to ``passed``, ``detail`` and
``coverage``.

The heavy libraries are imported once, before forking, so that a program takes milliseconds. This is for
answers whose behaviour is known: a child is stopped after a time limit, and nothing else is held back.
"""

import contextlib
import doctest
import importlib
import io
import json
import os
import signal
import sys
import tempfile
import traceback
import types
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any

# The slowest program takes about 0.4 s; a busy machine is given a hundred times as long.
SECONDS_PER_PROGRAM = 40


def preload() -> None:
    """Import what most programs need, so that their children inherit it."""
    import matplotlib

    matplotlib.use("Agg")
    for name in ("matplotlib.pyplot", "numpy", "pandas"):
        importlib.import_module(name)


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """Run one job in a child and return its outcome, whatever becomes of the child."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = Path(folder) / "outcome.json"
        workplace = Path(folder) / "workplace"
        workplace.mkdir()
        child = os.fork()
        if child == 0:
            become_program(job, workplace, outcome)
        status = os.waitpid(child, 0)[1]
        if not outcome.exists():
            return {"passed": False, "detail": f"ended without an outcome, status {status}", "coverage": None}
        return dict(json.loads(outcome.read_text()))


def become_program(job: dict[str, Any], workplace: Path, outcome: Path) -> None:
    """Turn this process into the child that executes the job; never returns."""
    # The default action of the signal ends the process, which leaves no outcome behind.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(SECONDS_PER_PROGRAM)
    os.chdir(workplace)
    result = execute(job, workplace)
    outcome.write_text(json.dumps(result))
    os._exit(0)


def execute(job: dict[str, Any], workplace: Path) -> dict[str, Any]:
    """Execute the sources of a job, check them, and return the outcome."""
    names = [workplace.parent / f"part{number}.py" for number in range(len(job["sources"]))]
    for name, source in zip(names, job["sources"], strict=True):
        name.write_text(source)
    measure = measured if job["measure"] else unmeasured
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        passed, coverage = measure(lambda: check(job["check"], names), names[0])
    return {"passed": passed, "detail": output.getvalue()[-2000:], "coverage": coverage}


def unmeasured(action: Callable[[], bool], _source: Path) -> tuple[bool, None]:
    """Call the action."""
    return action(), None


def measured(action: Callable[[], bool], source: Path) -> tuple[bool, float]:
    """Call the action and measure which part of the lines and branches of a file it reaches, in per cent."""
    import coverage

    measurement = coverage.Coverage(data_file=None, branch=True, include=[str(source)], config_file=False)
    with measurement.collect():
        passed = action()
    report = source.with_suffix(".json")
    measurement.json_report(outfile=str(report))
    return passed, float(json.loads(report.read_text())["totals"]["percent_covered"])


def check(kind: str, names: list[Path]) -> bool:
    """Execute the files in one namespace and say whether its tests, or its examples, pass."""
    module = types.ModuleType("__test__")
    sys.modules["__test__"] = module
    try:
        for name in names:
            exec(compile(name.read_text(), str(name), "exec"), module.__dict__)
        return run_examples(module) if kind == "examples" else run_tests(module)
    except Exception:  # noqa: BLE001 - whatever a program raises at its top level is its own failure
        traceback.print_exc()
        return False


def run_tests(module: types.ModuleType) -> bool:
    """Run the test cases of a module; a suite without tests does not pass."""
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(module.TestCases)
    result = unittest.TextTestRunner(stream=sys.stderr).run(suite)
    return result.testsRun > 0 and result.wasSuccessful()


def run_examples(module: types.ModuleType) -> bool:
    """Run the interactive examples in the docstring; a docstring without examples does not pass."""
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(module.task_func, "task_func", globs=module.__dict__):
        runner.run(example)
    return runner.tries > 0 and runner.failures == 0


def main() -> None:
    """Run the jobs of the first file and write their outcomes to the second."""
    preload()
    jobs = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(json.dumps({job["id"]: run_job(job) for job in jobs}))


if __name__ == "__main__":
    main()
