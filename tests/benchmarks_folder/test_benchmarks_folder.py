"""What the scripts in ``benchmarks/`` decide: floors, agreement, explanations, load figures, fresh homes."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchwright.core.controls import ControlOutcome, ControlRun
from benchwright.core.problems import FunctionProblem
from benchwright.core.runs import ResultRow, Score
from benchwright.core.verdicts import Outcome, Reason, Verdict
from benchwright.store.records import RecordStore

SCRIPTS = Path(__file__).parents[2] / "benchmarks"
PROBLEM = FunctionProblem(
    id="BigCodeBench/3",
    entry_point="task_func",
    prompts={},
    benchmark="bigcodebench",
    stub="def task_func():",
    reference="",
    test_source="class TestCases(unittest.TestCase):\n    def test_it(self): ...",
    libraries=(),
    digest="p" * 64,
)


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a script of the folder by name; all of them are forgotten afterwards."""
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    names = [path.stem for path in SCRIPTS.glob("*.py")]

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield load
    for name in names:
        sys.modules.pop(name, None)


def row(task: str, outcome: Outcome, *, job: str | None = "j", cpu: float = 1.0, wall: float = 1.0) -> ResultRow:
    reason = Reason.ALL_TESTS_PASSED if outcome is Outcome.PASSED else Reason.ASSERTION
    verdict = Verdict(
        outcome=outcome, reason=reason, detail="", planned=1, passed=0, judge_version=1, record_digest=None
    )
    return ResultRow(
        problem_id=task,
        sample=0,
        score=Score.CALIBRATED,
        verdict=verdict,
        job_digest=job,
        cpu_seconds=cpu,
        wall_seconds=wall,
    )


def evidence(script: Any, **changes: Any) -> Any:
    values = {
        "file": "model/full-complete",
        "task": PROBLEM.id,
        "sample": 0,
        "official_status": "pass",
        "official_details": {},
        "outcome": Outcome.FAILED,
        "reason": Reason.ASSERTION,
        "detail": "TestCases.test_it: AssertionError: 1 != 2",
        "wall_seconds": 0.1,
        "messages": "AssertionError: 1 != 2",
        "code": "def task_func():\n    return 1\n",
        "problem": PROBLEM,
        "planned": frozenset({"test_it"}),
        "control": None,
    }
    return script("parity").Evidence(**{**values, **changes})


def control(*outcomes: str, needs_network: bool = False) -> ControlRun:
    return ControlRun(
        problem_id=PROBLEM.id,
        problem_digest=PROBLEM.digest,
        environment="e",
        guest_version="g",
        references=tuple(
            ControlOutcome(
                outcome=outcome, reason="", detail="boom", wall_seconds=1, cpu_seconds=1, memory_peak_bytes=1
            )
            for outcome in outcomes
        ),
        stubs=(),
        needs_network=needs_network,
    )


def test_floor_counts_each_executed_job_once_and_takes_the_larger_bound(script: Any) -> None:
    """Two rows of one job are one execution; what was not executed costs nothing."""
    rows = [
        row("a", Outcome.PASSED, job="1", cpu=10, wall=11),
        row("b", Outcome.PASSED, job="1", cpu=10, wall=11),
        row("c", Outcome.NO_ANSWER, job=None),
        row("d", Outcome.PASSED, job="2", cpu=14, wall=7),
    ]
    floor = script("grading").Floor.of(rows, 2)
    assert (floor.cpu_seconds, floor.longest_seconds, floor.seconds) == (24, 11, 12)


def test_disagreements_are_those_that_pass_on_one_side_only(script: Any) -> None:
    """A time-out on their side and a wrong value on ours is agreement."""
    official = {
        "a": [{"status": "pass", "details": {}}],
        "b": [{"status": "timeout", "details": {}}],
        "c": [{"status": "fail", "details": {"test_it": "x"}}],
    }
    rows = [row("a", Outcome.FAILED), row("b", Outcome.FAILED), row("c", Outcome.PASSED)]
    grading = script("grading")
    assert [entry["task"] for entry in grading.disagreements(official, rows)] == ["a", "c"]
    assert grading.agreement(official, rows)["timeout", "failed"] == 1


@pytest.mark.parametrize(
    ("changes", "category", "shown"),
    [
        ({"repeats": ("failed", "passed", "failed")}, "FLAKY", True),
        ({"control": control("passed", "failed")}, "FLAKY", True),
        ({"messages": "gaierror: Temporary failure in name resolution"}, "NETWORK", True),
        ({"messages": "ConnectionError: mocked"}, "NETWORK", False),
        ({"control": control("failed", needs_network=True)}, "NETWORK", True),
        ({"control": control("failed")}, "REFERENCE", True),
        ({"reason": Reason.TAMPERED, "detail": "assertEqual replaced"}, "TAMPERING", True),
        ({"reason": Reason.ENTRY_POINT_MISSING, "outcome": Outcome.UNUSABLE}, "STUB", True),
        ({"outcome": Outcome.OVER_LIMIT, "reason": Reason.MEMORY}, "LIMITS", True),
        ({"task": "BigCodeBench/16"}, "DATA", False),
        ({"task": "BigCodeBench/16", "official_here": "fail"}, "DATA", True),
        ({"official_here": "fail"}, "MACHINE", True),
        ({"code": "import random\nrandom.random()"}, "FLAKY", False),
        ({"messages": "PermissionError: [Errno 13] Permission denied"}, "MACHINE", False),
        ({}, "UNEXPLAINED", False),
        ({"official_here": "pass"}, "UNEXPLAINED", False),
    ],
)
def test_a_failure_here_that_passed_officially_is_explained(
    script: Any, changes: dict[str, Any], category: str, shown: bool
) -> None:
    """Each rule needs its own evidence, and without any there is no explanation."""
    first, _ = script("parity").explain(evidence(script, **changes))
    assert (first.category.name, first.shown) == (category, shown)


@pytest.mark.parametrize(
    ("changes", "category", "shown"),
    [
        ({"official_status": "timeout"}, "OFFICIAL_TIMEOUT", True),
        ({"official_details": {"test_it": "TypeError: 'NoneType' object is not callable"}}, "UNEXPLAINED", False),
        (
            {
                "official_details": {"test_it": "TypeError: 'NoneType' object is not callable"},
                "code": "import subprocess\nsubprocess.run(['ls'])",
            },
            "PATCHED",
            True,
        ),
        ({"code": "pool = Pool(2)", "official_status": "timeout", "official_here": "timeout"}, "PATCHED", True),
        ({"official_details": {"test_other": "AssertionError"}}, "DATA", True),
        ({"official_details": {"test_it": "URLError: <urlopen error timed out>"}}, "NETWORK", True),
    ],
)
def test_a_pass_here_that_failed_officially_is_explained(
    script: Any, changes: dict[str, Any], category: str, shown: bool
) -> None:
    """The other direction has rules of its own."""
    passed = {
        "official_status": "fail",
        "official_details": {"test_it": "AssertionError: 1 != 2"},
        "outcome": Outcome.PASSED,
        "reason": Reason.ALL_TESTS_PASSED,
        "messages": "",
    }
    first, _ = script("parity").explain(evidence(script, **{**passed, **changes}))
    assert (first.category.name, first.shown) == (category, shown)


def test_what_shows_a_cause_comes_before_what_only_fits(script: Any) -> None:
    """A later rule with evidence of the cause outranks an earlier one without."""
    entry = evidence(script, task="BigCodeBench/16", outcome=Outcome.OVER_LIMIT, reason=Reason.WALL_TIME)
    first, others = script("parity").explain(entry)
    assert first.category.name == "LIMITS"
    assert [other.category.name for other in others] == ["DATA"]


def test_repeated_samples_are_all_different(script: Any) -> None:
    """Equal ones would be executed once only, and the load would be none."""
    load = script("load")
    samples = list(load.many([{"task_id": "a", "solution": "x"}, {"task_id": "b", "completion": "y"}], 5))
    assert [sample["task_id"] for sample in samples] == ["a", "b", "a", "b", "a"]
    assert len({str(sample) for sample in samples}) == 5


def test_load_figures_compare_the_first_block_with_the_last(script: Any) -> None:
    """A block that takes twice as long shows as 2."""
    load = script("load")
    marks = [
        load.Mark(done=done, seconds=seconds, host_rss_bytes=rss)
        for done, seconds, rss in ((1, 0.0, 100), (101, 1.0, 110), (201, 3.0, 130))
    ]
    figures = load.figures(marks)
    assert figures["first_over_last_rate"] == 2.0
    assert (figures["rss_growth_bytes"], figures["rss_growth_second_half_bytes"]) == (30, 20)


def test_a_fresh_home_keeps_control_runs_and_nothing_else(script: Any, tmp_path: Path) -> None:
    """Limits and order come from the control runs; a finished record would make the measurement a look-up."""
    with RecordStore(tmp_path / "records.sqlite") as store:
        store.put_control(control("passed"))
    (tmp_path / "environments").mkdir()
    measuring = script("measuring")
    with measuring.fresh_home(tmp_path) as home:
        assert (home / "environments").resolve() == tmp_path / "environments"
        with RecordStore(home / "records.sqlite") as store:
            assert list(store.controls("e", "g")) == [PROBLEM.digest]
    with measuring.fresh_home(tmp_path, controls=False) as home, RecordStore(home / "records.sqlite") as store:
        assert store.controls("e", "g") == {}
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith("records")) == ["environments"]


def test_a_measured_command_counts_its_whole_tree_and_what_it_leaves(script: Any, tmp_path: Path) -> None:
    """An orphan that outlives its parent is counted, ended, and its CPU time is in the sum."""
    busy = "import time\nwhile time.process_time() < 0.3: pass\n"
    program = (
        "import subprocess, sys\n"
        f"subprocess.run([sys.executable, '-c', {busy!r}])\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "sys.exit(3)\n"
    )
    measured = script("measuring").measure(
        [sys.executable, "-c", program], variables={}, folder=tmp_path, log=tmp_path / "log"
    )
    assert measured.exit_status == 3
    assert measured.cpu_seconds >= 0.3
    assert measured.leftovers == 1
