"""The guest's own test loop against unittest's: the same sources must come to the same results."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from interpreter_runs import execute, make_job

from benchwright.core.execution import ExecutionRecord

pytestmark = pytest.mark.namespaces

RUNNER = Path(__file__).with_name("reference_runner.py")
ANSWER = "def task_func(x=0):\n    return x + 1\n"
CLASSES = 120
SEED = 7

Events = dict[str, list[str]]

# A known difference: of a test marked `expectedFailure` the guest reports how the test itself went, and not what
# tearDown or a cleanup raised afterwards.  No task of BigCodeBench has such a mark.
KNOWN = {"expected_failure", "unexpected_success"}
AFTER_THE_TEST = (["error"], ["failed"], ["skipped"], ["error", "error"])

BODIES = {
    "pass": ["self.assertEqual(task_func(1), 2)"],
    "fail": ["self.assertEqual(task_func(1), 3)"],
    "fail by hand": ["self.fail('no')"],
    "plain assert": ["assert task_func(1) == 3"],
    "raise": ["raise KeyError('x')"],
    "exit": ["raise SystemExit(0)"],
    "skip": ["self.skipTest('not now')"],
    "raise skip": ["raise unittest.SkipTest('not now')"],
    "sub pass": ["for n in range(3):", "    with self.subTest(n=n):", "        self.assertEqual(task_func(n), n + 1)"],
    "sub fail": ["for n in range(3):", "    with self.subTest(n=n):", "        self.assertEqual(task_func(n), 2)"],
    "raises": ["with self.assertRaises(ZeroDivisionError):", "    1 / 0"],
    "raises not": ["with self.assertRaises(ZeroDivisionError):", "    pass"],
    "cleanup": ["self.addCleanup(list)", "self.assertEqual(task_func(1), 2)"],
    "cleanup fails": ["self.addCleanup(int, 'x')", "self.assertEqual(task_func(1), 2)"],
    "cleanup asserts": ["self.addCleanup(self.fail, 'late')"],
    "cleanup after failure": ["self.addCleanup(int, 'x')", "self.assertEqual(task_func(1), 3)"],
    "cleanup order": [
        "seen = []",
        "self.addCleanup(lambda: self.assertEqual(seen, [1]))",
        "self.addCleanup(seen.append, 1)",
    ],
    "regex": ["with self.assertRaisesRegex(ValueError, 'invalid'):", "    int('x')"],
    "message": ["self.assertTrue(task_func(1) == 3, 'because')"],
    "warns": ["with self.assertWarns(UserWarning):", "    import warnings", "    warnings.warn('w', UserWarning)"],
    "logs": [
        "import logging",
        "with self.assertLogs() as caught:",
        "    logging.getLogger('a').warning('hello')",
        "self.assertEqual(len(caught.output), 1)",
    ],
    "no logs": ["with self.assertLogs():", "    pass"],
    "attribute": ["self.assertEqual(self.value, 5)"],
    "own method": ["self.check(2)"],
    "own method fails": ["self.check(3)"],
    "returns": ["self.assertTrue(True)", "return None"],
    "equality function": ["self.assertEqual([1, 2], [1, 3])"],
    "dictionaries": ["self.assertEqual({'a': 1}, {'a': 1.0})"],
    "types": ["self.assertEqual((1,), [1])"],
    "almost": ["self.assertAlmostEqual(0.1 + 0.2, 0.3)"],
    "count": ["self.assertCountEqual([3, 1, 2], (1, 2, 3))"],
    "long difference": ["self.assertEqual('a' * 5000, 'a' * 4999 + 'b')"],
    "id": ["self.assertTrue(self.id().endswith('TestCases.' + self._testMethodName))"],
    "exception": [
        "with self.assertRaises(ValueError) as caught:",
        "    int('x')",
        "self.assertIn('x', str(caught.exception))",
    ],
}
DECORATORS = [
    "@unittest.skip('no')",
    "@unittest.skipIf(True, 'no')",
    "@unittest.skipIf(False, 'no')",
    "@unittest.expectedFailure",
]
SET_UP = [["self.value = 5"]] * 6 + [
    ["pass"],
    ["raise OSError('no')"],
    ["self.fail('no')"],
    ["self.skipTest('no')"],
    ["self.value = 5", "self.addCleanup(int, 'x')"],
    ["self.value = 5", "self.addCleanup(list)"],
]
TEAR_DOWN = [["pass"]] * 6 + [["raise OSError('no')"], ["self.assertEqual(1, 2)"], ["self.skipTest('late')"]]
SET_UP_CLASS = [["cls.value = 5"]] * 6 + [
    ["raise OSError('no')"],
    ["raise unittest.SkipTest('no')"],
    ["cls.addClassCleanup(list)"],
]
MODULE = [None] * 8 + [["pass"], ["raise OSError('no')"], ["raise unittest.SkipTest('no')"]]


def indented(lines: list[str], depth: int) -> Iterator[str]:
    """Lines at a depth."""
    return (" " * 4 * depth + line for line in lines)


def make_class(chance: random.Random) -> str:
    """The source of a test class with fixtures that may fail and tests of all kinds."""
    lines = ["import unittest"]
    for name in ("setUpModule", "tearDownModule"):
        body = chance.choice(MODULE if name == "setUpModule" else [None, ["pass"]])
        if body is not None:
            lines += [f"def {name}():", *indented(body, 1)]
    lines.append("class TestCases(unittest.TestCase):")
    if chance.random() < 0.4:
        lines += ["    @classmethod", "    def setUpClass(cls):", *indented(chance.choice(SET_UP_CLASS), 2)]
    if chance.random() < 0.7:
        lines += ["    def setUp(self):", *indented(chance.choice(SET_UP), 2)]
    if chance.random() < 0.5:
        lines += ["    def tearDown(self):", *indented(chance.choice(TEAR_DOWN), 2)]
    lines += ["    def check(self, expected):", "        self.assertEqual(task_func(1), expected)"]
    for number in range(chance.randint(1, 4)):
        if chance.random() < 0.2:
            lines.append("    " + chance.choice(DECORATORS))
        lines += [f"    def test_{number}(self):", *indented(chance.choice(list(BODIES.values())), 2)]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def compared() -> list[tuple[str, Events, ExecutionRecord]]:
    """Each source with what unittest says and what the guest says."""
    chance = random.Random(SEED)
    single = [
        "import unittest\nclass TestCases(unittest.TestCase):\n    value = 5\n"
        "    def check(self, expected):\n        self.assertEqual(task_func(1), expected)\n"
        "    def test_it(self):\n" + "\n".join(indented(body, 2)) + "\n"
        for body in BODIES.values()
    ]
    sources = list(dict.fromkeys([*single, *(make_class(chance) for _ in range(CLASSES))]))
    done = subprocess.run(
        [sys.executable, "-I", str(RUNNER)],
        input=json.dumps([[ANSWER, source] for source in sources]),
        capture_output=True,
        text=True,
        check=True,
    )
    reference = json.loads(done.stdout)
    records = execute({source: make_job(ANSWER, source) for source in sources})
    return [(source, events, records[source]) for source, events in zip(sources, reference, strict=True)]


def expected_of(test: str, events: Events) -> set[str]:
    """What the guest may say of a test, by what unittest said of it or of the fixtures above it."""
    if test in events:
        return set(events[test])
    for fixture in ("setUpModule", "setUpClass"):
        if fixture in events:
            return set(events[fixture])
    raise AssertionError(f"unittest says nothing of {test}: {events}")


def test_every_test_has_the_result_unittest_gives_it(compared: list[tuple[str, Events, ExecutionRecord]]) -> None:
    """Fixtures, cleanups, sub-tests, skips and expected failures mean what they mean to unittest.

    Where unittest reports several things about one test (a failure, then an error while cleaning up), the guest
    reports one of them.
    """
    differences = []
    for source, events, record in compared:
        for result in record.tests:
            name = result.id.rpartition(".")[2]
            expected = expected_of(name, events)
            known = result.outcome.value in KNOWN and events.get(name) in AFTER_THE_TEST
            if result.outcome.value not in expected and not known:
                differences.append(f"{name}: unittest {sorted(expected)}, guest {result.outcome.value}\n{source}")
    assert not differences, f"{len(differences)} differences:\n" + "\n".join(differences[:5])


def test_every_planned_test_is_reported(compared: list[tuple[str, Events, ExecutionRecord]]) -> None:
    """No test is left out, whatever a fixture did, and they come in unittest's order."""
    for source, _, record in compared:
        names = sorted(line.split("(")[0].split()[-1] for line in source.splitlines() if "def test_" in line)
        assert [result.id for result in record.tests] == [f"TestCases.{name}" for name in names], source


def test_honest_sources_show_no_interference(compared: list[tuple[str, Events, ExecutionRecord]]) -> None:
    """Nothing that ordinary test classes do looks like tampering."""
    seen = {note for _, _, record in compared for note in (*record.interference, *record.protocol_errors)}
    assert seen == set()


def test_the_sources_cover_every_kind_of_result(compared: list[tuple[str, Events, ExecutionRecord]]) -> None:
    """The comparison would be worth little if everything passed."""
    seen = {event for _, events, _ in compared for several in events.values() for event in several}
    assert seen == {"passed", "failed", "error", "skipped", "expected_failure", "unexpected_success"}
