"""The whole engine in the running interpreter: what a job meets, and what is recorded of it."""

import ast
import importlib.util
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interpreter_runs import RETURNS_TRUE, execute, interpreter_target, make_job, observed

from benchwright.core.execution import (
    MIB,
    ExecutionRecord,
    ExitCause,
    Isolation,
    Limits,
    TestOutcome,
    TestResult,
)

pytestmark = pytest.mark.namespaces

Records = dict[str, ExecutionRecord]
STUB = "import math\nLIMIT = 3\ndef task_func(x=1):\n    pass\n"

ANSWERS = {
    "true": "def task_func():\n    return True\n",
    "false": "def task_func():\n    return False\n",
    "raises": "def task_func():\n    return {}['absent']\n",
    "prints": observed("import sys\nseen = 'to out'\nprint('to err', file=sys.stderr)"),
    "prints much": "def task_func():\n    print('head' + 'x' * 300_000 + 'tail')\n    return True\n",
    "reads input": (
        "import sys\ndef task_func():\n    try:\n        input()\n    except OSError:\n        pass\n"
        "    else:\n        return False\n"
        "    try:\n        sys.stdin.read()\n    except OSError:\n        return True\n"
    ),
    "descriptor 0": "import os\ndef task_func():\n    return os.read(0, 10) == b''\n",
    "folder": observed(
        "import os\nseen = [os.getcwd(), os.listdir('.'), os.listdir('/tmp')]\nopen('left', 'w').write('x')"
    ),
    "folder again": observed("import os\nseen = [os.getcwd(), os.listdir('.')]\n'second'"),
    "zone": observed("import time, os\nseen = [time.tzname[0], os.environ['TZ'], time.localtime(0).tm_hour]"),
    "environment": observed("import os\nseen = sorted(os.environ)"),
    "syntax error": "import os\n\ndef task_func(:\n    pass\n",
    "deep": "\n\ndef task_func():\n    x = 1\n    return 1 / 0\n",
    "import error": "import os\nimport no_such_module_here\n",
    "missing": "def other():\n    return True\n",
    "not callable": "task_func = 5\n",
    "exits": "import sys\nsys.exit(0)\n",
    "exits hard": "import os\ndef task_func():\n    os._exit(0)\n",
    "exits at load": "import os\nos._exit(0)\n",
    "exits as if not set up": "import os\nos._exit(97)\n",
    "exits as if not set up later": "import os\ndef task_func():\n    os._exit(97)\n",
    "aborts": "import os\ndef task_func():\n    os.abort()\n",
    "crashes in C": "import ctypes\ndef task_func():\n    ctypes.memset(0, 1, 1)\n",
    "threads": (
        "import threading\ndef task_func():\n    seen = []\n"
        "    t = threading.Thread(target=lambda: seen.append(1))\n"
        "    t.start()\n    t.join()\n    return seen == [1]\n"
    ),
    "subprocess": (
        "import subprocess, sys\ndef task_func():\n"
        "    return subprocess.run([sys.executable, '-c', 'print(7)'], capture_output=True).stdout == b'7\\n'\n"
    ),
    "surrogate": "def task_func():\n    raise ValueError('\\ud800')\n",
    "long message": "def task_func():\n    raise ValueError('a' * 100_000 + 'z')\n",
    "unicode": "def task_func():\n    print('ä€😀')\n    return 'ä€😀' == '\\xe4\\u20ac\\U0001f600'\n",
    "module": observed("import sys\nseen = [__name__, __file__, 'unittest' in globals()]"),
}  # fmt: skip


@pytest.fixture(scope="module")
def records() -> Records:
    """The records of all plain answers, from one run."""
    return execute({name: make_job(code) for name, code in ANSWERS.items()}, target=interpreter_target(TZ="Asia/Tokyo"))


def seen(record: ExecutionRecord) -> Any:
    """What an `observed` answer printed."""
    assert record.exit_cause is ExitCause.FINISHED, record
    return ast.literal_eval(record.output.splitlines()[0])


def only_test(record: ExecutionRecord) -> TestResult:
    """The result of the single test."""
    (result,) = record.tests
    return result


def test_a_right_answer_finishes_with_every_test_passed(records: Records) -> None:
    """A plain answer runs to its closing frame; times, memory and facts are recorded."""
    record = records["true"]
    assert record.exit_cause is ExitCause.FINISHED
    assert (only_test(record).id, only_test(record).outcome) == ("TestCases.test_truth", TestOutcome.PASSED)
    assert record.interference == record.protocol_errors == ()
    assert 0 < record.wall_seconds < 10
    assert record.memory_peak_bytes > 0
    assert {"python", "tier", "memory"} <= dict(record.facts).keys()
    assert record.attempts == 1


@pytest.mark.parametrize(
    ("name", "outcome", "exception"),
    [
        ("false", TestOutcome.FAILED, "AssertionError"),
        ("raises", TestOutcome.ERROR, "KeyError"),
        ("surrogate", TestOutcome.ERROR, "ValueError"),
        ("long message", TestOutcome.ERROR, "ValueError"),
    ],
)
def test_what_a_test_did_is_recorded(records: Records, name: str, outcome: TestOutcome, exception: str) -> None:
    """A failed assertion is a failure, anything else that was raised an error, each with its class."""
    result = only_test(records[name])
    assert (result.outcome, result.exception) == (outcome, exception)
    # What an answer raises is described by the guest as far as text can be made of it.
    assert exception in result.message or name == "surrogate"
    assert len(result.message) < 5000


@pytest.mark.parametrize("name", ["reads input", "descriptor 0", "threads", "subprocess", "unicode"])
def test_ordinary_programs_work(records: Records, name: str) -> None:
    """Reading closed standard input raises OSError; threads, subprocesses and any text work."""
    assert only_test(records[name]).outcome is TestOutcome.PASSED, records[name]


def test_output_is_captured(records: Records) -> None:
    """Standard output and error are both kept."""
    assert "to out" in records["prints"].output
    assert "to err" in records["prints"].output


def test_long_output_is_clipped_to_head_and_tail(records: Records) -> None:
    """Output is kept at both ends, and its true size is recorded."""
    record = records["prints much"]
    assert record.exit_cause is ExitCause.FINISHED
    assert record.output_total_bytes > 300_000
    assert len(record.output) < 5000
    assert record.output.startswith("head")
    assert "tail" in record.output[-20:]


def test_the_working_folder_is_private_and_empty(records: Records) -> None:
    """Each job starts in an empty folder of its own, and nothing of the job before is there."""
    folder, listing, temporary = seen(records["folder"])
    assert listing == []
    # An environment that lies below /tmp stays where it is.
    assert set(temporary) <= {Path(folder).name, *Path(sys.prefix).parts, *Path(sys.base_prefix).parts}
    assert seen(records["folder again"]) == [folder, []]


def test_the_time_zone_is_that_of_the_environment(records: Records) -> None:
    """TZ is set and in force."""
    assert seen(records["zone"]) == ["JST", "Asia/Tokyo", 9]


def test_nothing_of_the_hosts_environment_is_inherited(records: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job sees the environment's variables and a handful of its own, whatever the host has."""
    known = {"PATH", "LANG", "TZ", "HOME", "TMPDIR", "USER", "LOGNAME", "LC_CTYPE"}
    assert set(seen(records["environment"])) <= known


def test_the_answer_runs_in_the_module_of_the_official_harness(records: Records) -> None:
    """The module's name and file are those of bigcodebench 0.2.5, and unittest is there once the tests are."""
    assert seen(records["module"]) == ["__test__", "__test__.py", True]


@pytest.mark.parametrize(
    ("name", "phase", "exception", "line"),
    [
        ("syntax error", "answer", "SyntaxError", 3),
        ("import error", "answer", "ModuleNotFoundError", 2),
        ("missing", "entry_point", "NameError", None),
        ("not callable", "entry_point", "TypeError", None),
        ("exits", "answer", "SystemExit", 2),
    ],
)
def test_what_went_wrong_before_the_first_test(
    records: Records, name: str, phase: str, exception: str, line: int | None
) -> None:
    """A load error has its phase, its class and the line of the answer."""
    error = records[name].load_error
    assert error is not None
    assert (error.phase, error.exception, error.line) == (phase, exception, line)
    assert records[name].tests == ()


def test_a_missing_module_is_named(records: Records) -> None:
    """The top-level module that could not be imported is recorded."""
    error = records["import error"].load_error
    assert error is not None
    assert error.missing_module == "no_such_module_here"


def test_messages_speak_of_lines_of_the_answer(records: Records) -> None:
    """A traceback names the answer's own line."""
    assert 'File "answer.py", line 5' in only_test(records["deep"]).message


@pytest.mark.parametrize("name", ["exits hard", "exits at load"])
def test_an_early_exit_is_not_an_orderly_end(records: Records, name: str) -> None:
    """Status 0 without a closing frame is an exit, with no test passed."""
    assert records[name].exit_cause is ExitCause.EXITED
    assert records[name].exit_status == 0
    assert records[name].tests == ()


@pytest.mark.parametrize("name", ["exits as if not set up", "exits as if not set up later"])
def test_an_answer_cannot_make_itself_a_fault(records: Records, name: str) -> None:
    """Faults are left out of the score, so the exit status of a failed set-up must not be for an answer to choose."""
    assert records[name].exit_cause is ExitCause.EXITED


@pytest.mark.parametrize("name", ["aborts", "crashes in C"])
def test_a_crash_is_recorded_with_its_signal(records: Records, name: str) -> None:
    """A crash ends the job alone; an abort of process 1 of a pid namespace ends in a segmentation fault as well."""
    assert records[name].exit_cause is ExitCause.SIGNAL
    assert records[name].exit_status in (-signal.SIGSEGV, -signal.SIGABRT)


CALIBRATED = {
    "no function": "x = 1\n",
    "future": "from __future__ import annotations\ndef task_func(x: NoSuchName = 1):\n    return True\n",
    "docstring and future": (
        '"""What it does."""\nfrom __future__ import annotations\ndef task_func():\n    return True\n'
    ),
    "uses the stub": "def task_func():\n    return math.floor(LIMIT) == 3\n",
    "syntax error": "def task_func():\n    return (\n",
    "error in line 4": "\n\ndef task_func():\n    return undefined_name\n",
    "stub called": "result = task_func()\n",
    "same function again": "from copy import copy\ntask_func = task_func\n",
    "lambda": "task_func = lambda: True\n",
    "overwrites constant": "LIMIT = 4\ndef task_func():\n    return LIMIT == 4\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def calibrated() -> Records:
    """The records of answers behind the stub, from one run."""
    return execute({name: make_job(code, stub=STUB) for name, code in CALIBRATED.items()})


@pytest.mark.parametrize("name", ["future", "docstring and future", "uses the stub", "lambda", "overwrites constant"])
def test_calibrated_answers_work(calibrated: Records, name: str) -> None:
    """The stub helps an answer and never stands in its way, not even of `from __future__` imports."""
    assert only_test(calibrated[name]).outcome is TestOutcome.PASSED, calibrated[name]


@pytest.mark.parametrize("name", ["no function", "stub called", "same function again"])
def test_the_stub_does_not_stand_for_the_answer(calibrated: Records, name: str) -> None:
    """An answer without the function has no entry point, although the stub defines one."""
    error = calibrated[name].load_error
    assert error is not None
    assert error.phase == "entry_point"


def test_lines_of_calibrated_answers_are_counted_without_the_stub(calibrated: Records) -> None:
    """Line numbers refer to the answer, in syntax errors as in tracebacks."""
    error = calibrated["syntax error"].load_error
    assert error is not None
    assert (error.exception, error.line) == ("SyntaxError", 2)
    assert 'File "answer.py", line 4' in only_test(calibrated["error in line 4"]).message


def limited(**changes: Any) -> Limits:
    """Tight limits with changes."""
    values: dict[str, Any] = {"wall_seconds": 20.0, "cpu_seconds": 10.0, "memory_bytes": 512 * MIB, **changes}
    return Limits(**values)


LIMITED = {
    "sleeps": ("import time\ndef task_func():\n    time.sleep(60)\n", limited(wall_seconds=0.5)),
    "spins": ("def task_func():\n    while True: pass\n", limited(cpu_seconds=1.0)),
    "eats memory": ("def task_func():\n    return bool([bytearray(1 << 20) for _ in range(2000)])\n", limited()),
    "writes": (
        "def task_func():\n    import os\n    while True: os.write(1, b'x' * 65536)\n", limited(output_bytes=MIB),
    ),
    "ignores SIGTERM": (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ndef task_func():\n    time.sleep(60)\n",
        limited(wall_seconds=0.5),
    ),
    "after them": (ANSWERS["true"], limited()),
}  # fmt: skip


@pytest.fixture(scope="module")
def stopped() -> Records:
    """The records of answers that go over a limit."""
    return execute({name: make_job(code, limits=limits) for name, (code, limits) in LIMITED.items()})


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("sleeps", ExitCause.WALL_TIME),
        ("spins", ExitCause.CPU_TIME),
        ("eats memory", ExitCause.MEMORY),
        ("writes", ExitCause.OUTPUT),
        ("ignores SIGTERM", ExitCause.WALL_TIME),
        ("after them", ExitCause.FINISHED),
    ],
)
def test_limits_end_a_job(stopped: Records, name: str, cause: ExitCause) -> None:
    """Each limit is kept, named in the record, and harms no other job."""
    assert stopped[name].exit_cause is cause, stopped[name]
    assert stopped[name].wall_seconds < 15


def test_a_timeout_is_run_once_more_alone() -> None:
    """A job that ran out of wall time is executed again before that counts; others are not."""
    jobs = {name: make_job(LIMITED[name][0], limits=LIMITED[name][1]) for name in ("sleeps", "after them")}
    found = execute(jobs, rerun_timeouts=True)
    assert (found["sleeps"].exit_cause, found["sleeps"].attempts) == (ExitCause.WALL_TIME, 2)
    assert (found["after them"].exit_cause, found["after them"].attempts) == (ExitCause.FINISHED, 1)


def test_process_isolation_works_and_is_recorded() -> None:
    """The weaker level runs the same answers, with the level in every record."""
    chosen = ("true", "false", "reads input", "exits hard", "aborts", "subprocess", "zone")
    jobs = {name: make_job(ANSWERS[name], isolation=Isolation.PROCESS) for name in chosen}
    jobs["sleeps"] = make_job(*_sleeping(), isolation=Isolation.PROCESS)
    found = execute(jobs, isolation=Isolation.PROCESS)
    assert {record.isolation for record in found.values()} == {Isolation.PROCESS}
    assert {name: record.exit_cause for name, record in found.items()} == {
        "true": ExitCause.FINISHED,
        "false": ExitCause.FINISHED,
        "reads input": ExitCause.FINISHED,
        "exits hard": ExitCause.EXITED,
        "aborts": ExitCause.SIGNAL,
        "subprocess": ExitCause.FINISHED,
        "zone": ExitCause.FINISHED,
        "sleeps": ExitCause.FINISHED,
    }
    assert only_test(found["subprocess"]).outcome is TestOutcome.PASSED


def _sleeping() -> tuple[str, str]:
    return "import time\ndef task_func():\n    time.sleep(0.01)\n    return True\n", RETURNS_TRUE


@pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="numpy is not installed")
def test_random_generators_differ_between_jobs() -> None:
    """Python's and numpy's global generators are seeded anew in every child of the same warm guest."""
    code = observed("import random, numpy\nseen = [random.random(), float(numpy.random.random())]")
    jobs = {str(number): make_job(f"# {number}\n{code}") for number in range(3)}
    found = execute(jobs, target=interpreter_target(("unittest.mock", "numpy.random"), OPENBLAS_NUM_THREADS="1"))
    values = [seen(record) for record in found.values()]
    assert len({value[0] for value in values}) == 3
    assert len({value[1] for value in values}) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: make_job("def task_func():\n    return True\n# lone surrogate \\ud800 in a comment: \ud800\n"),
        lambda: make_job("def task_func():\n    return True\n" + "# x\n" * 700_000),
    ],
    ids=["surrogate", "several megabytes"],
)
def test_odd_texts_are_handed_over_whole(make: Callable[[], Any]) -> None:
    """Whatever text the pipeline lets through reaches the job."""
    record = execute({"one": make()})["one"]
    assert record.exit_cause is ExitCause.FINISHED, record
